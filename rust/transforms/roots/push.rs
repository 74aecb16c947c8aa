//! One row of a random walk with restart, pushed out from its node.

use super::{Entries, FOLLOWED, Roots};
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::prefetch::{MOST, prefetch};
use crate::memory::huge_pages::Pages;

/// How many nodes before its turn a node's neighbors are asked for, and what these hold.
const LISTS_AHEAD: usize = 12;
const CELLS_AHEAD: usize = 4;

/// Of a node that no walk has come to in this row. Sums of masses are never negative, and so never this, not even by its
/// sign, which is what is looked at.
const UNTOUCHED: f32 = -0.0;

/// A node, and the expected number of visits to it until the walk restarts: its mass over c.
pub(super) type Visits = (u32, f32);

/// What a row knows of a node. Side by side, because every edge that is followed looks at both.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Cell {
    /// The mass it holds.
    held: f32,
    /// The mass from which on it passes it on.
    passes: f32,
}

/// Everything that a row is computed in. It is as it was before when the row is done.
pub(super) struct Push {
    cells: Pages<Cell>,
    /// Nodes that walks have come to. What lies behind the last of them is left over.
    touched: Vec<u32>,
    /// Nodes that pass something on in the next round.
    next: Vec<u32>,
    /// Who has passed on how much, over all rounds.
    passed: Vec<(u32, f32)>,
    entries: Vec<Visits>,
    /// Of weighted graphs by node, one over the total weight of its edges.
    shares: Vec<f64>,
    keep: f64,
    restart: f64,
    least: f32,
}

impl Push {
    pub(super) fn new(graph: &Graph, options: &Roots) -> Result<Self, Error> {
        let mut cells = Pages::<Cell>::zeroed("a row of the walk's matrix", graph.nodes())?;
        let followed = options.drop * FOLLOWED;
        for (row, cell) in cells.iter_mut().enumerate() {
            *cell = Cell { held: UNTOUCHED, passes: (followed * graph.degree(row) as f64) as f32 };
        }
        let share = |row| 1.0 / graph.weights(row).iter().map(|&weight| f64::from(weight)).sum::<f64>();
        let weighted = options.weighted && graph.weighted();
        Ok(Self {
            cells,
            touched: Vec::new(),
            next: Vec::new(),
            passed: Vec::new(),
            entries: Vec::new(),
            shares: if weighted { (0..graph.nodes()).map(share).collect() } else { Vec::new() },
            keep: 1.0 - options.restart,
            restart: options.restart,
            least: (options.drop / options.restart) as f32,
        })
    }

    /// The entries of a row. Their order depends on ids only, as that of neighbors does.
    pub(super) fn row(&mut self, graph: &Graph, row: usize, control: &Control) -> Result<(&[Visits], Entries), Error> {
        self.entries.clear();
        if graph.degree(row) == 0 {
            self.entries.push((row as u32, 1.0));
            return Ok((&self.entries, Entries { rows: 1, total: 1, largest: 1, ..Entries::default() }));
        }
        let mut steps = 0;
        let mut touched = 1;
        grow(&mut self.touched, 1);
        self.touched[0] = row as u32;
        self.cells[row].held = 1.0;
        self.next.clear();
        self.next.push(row as u32);
        self.passed.clear();
        let mut stopped = Ok(());
        while !self.next.is_empty() && stopped.is_ok() {
            let (count, edges) = self.round(graph, touched);
            touched = count;
            steps += edges;
            stopped = control.check();
        }
        let mass = self.collect(touched);
        stopped?;
        let total = self.entries.len() as u64;
        let dropped = (1.0 - self.restart * mass).max(0.0);
        Ok((&self.entries, Entries { rows: 1, total, largest: total, dropped, steps }))
    }

    /// All nodes that hold enough pass it on. Gives how many nodes have been touched by now, and edges followed.
    fn round(&mut self, graph: &Graph, mut touched: usize) -> (usize, u64) {
        let first = self.passed.len();
        for node in self.next.drain(..) {
            let cell = &mut self.cells[node as usize];
            self.passed.push((node, std::mem::replace(&mut cell.held, 0.0)));
        }
        let passed = &self.passed[first..];
        let edges: usize = passed.iter().map(|&(node, _)| graph.degree(node as usize)).sum();
        // No more than all nodes are touched, or begin to hold enough, but one place more is written to.
        let most = edges.min(graph.nodes());
        grow(&mut self.touched, touched + most + 1);
        self.next.resize(most + 1, 0);
        let mut ready = 0;
        for (place, &(node, held)) in passed.iter().enumerate() {
            if let Some(&(later, _)) = passed.get(place + LISTS_AHEAD) {
                prefetch_list(graph.neighbors(later as usize));
            }
            if let Some(&(later, _)) = passed.get(place + CELLS_AHEAD) {
                prefetch_cells(&self.cells, graph.neighbors(later as usize));
            }
            let node = node as usize;
            let neighbors = graph.neighbors(node);
            let lists = Lists { touched: &mut self.touched, next: &mut self.next };
            (touched, ready) = if self.shares.is_empty() {
                let each = (f64::from(held) * self.keep / neighbors.len() as f64) as f32;
                lists.hand_over(&mut self.cells, neighbors, (touched, ready), |_| each)
            } else {
                let (all, weights) = (f64::from(held) * self.keep * self.shares[node], graph.weights(node));
                let part = |place: usize| (all * f64::from(weights[place])) as f32;
                lists.hand_over(&mut self.cells, neighbors, (touched, ready), part)
            };
        }
        self.next.truncate(ready);
        (touched, edges as u64)
    }

    /// Makes entries of the nodes touched, and forgets these. Gives the sum of the visits.
    fn collect(&mut self, touched: usize) -> f64 {
        for &(node, visits) in &self.passed {
            self.cells[node as usize].held += visits;
        }
        let mut mass = 0.0;
        for &node in &self.touched[..touched] {
            let cell = &mut self.cells[node as usize];
            let visits = std::mem::replace(&mut cell.held, UNTOUCHED);
            if visits >= self.least {
                mass += f64::from(visits);
                self.entries.push((node, visits));
            }
        }
        mass
    }
}

/// Asks for a list of neighbors, but for what is too far behind in it.
#[inline(always)]
fn prefetch_list(neighbors: &[u32]) {
    neighbors[..neighbors.len().min(MOST)].chunks(16).for_each(|line| prefetch(&line[0]));
}

/// Asks for the cells of neighbors, or of the first of them.
#[inline(always)]
fn prefetch_cells(cells: &[Cell], neighbors: &[u32]) {
    for &node in &neighbors[..neighbors.len().min(MOST)] {
        prefetch(&cells[node as usize]);
    }
}

/// What a round writes to, each with a place more than it needs: who has been touched, and who is to pass something on.
struct Lists<'a> {
    touched: &'a mut [u32],
    next: &'a mut [u32],
}

impl Lists<'_> {
    /// Adds to what the neighbors of a node hold. Notes those that were not touched before, and those that hold enough
    /// now to pass it on: all are written down, and stay so if they count. Gives how many there are of both by now.
    #[inline(always)]
    fn hand_over(
        self,
        cells: &mut [Cell],
        neighbors: &[u32],
        (mut touched, mut next): (usize, usize),
        part: impl Fn(usize) -> f32,
    ) -> (usize, usize) {
        for (place, &node) in neighbors.iter().enumerate() {
            let cell = &mut cells[node as usize];
            let before = cell.held;
            let after = before + part(place);
            cell.held = after;
            self.touched[touched] = node;
            touched += (before.to_bits() >> 31) as usize;
            self.next[next] = node;
            next += usize::from((before < cell.passes) & (after >= cell.passes));
        }
        (touched, next)
    }
}

/// Makes a list at least so long.
fn grow(list: &mut Vec<u32>, length: usize) {
    if list.len() < length {
        list.resize(length.next_power_of_two(), 0);
    }
}
