//! Root signatures (ours): the square roots of where random walks with restart are, sketched into a few numbers a node.
//!
//! Row i of the walk's matrix is pushed out from i, so that it depends on nothing but the graph around i: it can be
//! computed alone, on any thread and on any machine, to the same bytes. docs/research/signature.md tells why roots.

use rayon::prelude::*;

use self::push::Push;
use self::sketch::Sketcher;
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::memory::scratch::Scratch;

mod push;
mod sketch;

/// Rows a task computes.
const ROWS: usize = 32;

/// A share of `drop`: walks are not followed where less than so much would go over each edge.
///
/// Measured on development data: what is found is that of exact rows, at a small part of their time.
const FOLLOWED: f64 = 0.2;

/// The parameters of root signatures.
#[derive(Debug, Clone, Copy)]
pub struct Roots {
    /// c: the chance to go back to the start at every step.
    pub restart: f64,
    /// Entries of a row below this are dropped.
    pub drop: f64,
    /// Numbers per node.
    pub dim: usize,
    /// Seed of the random signs.
    pub seed: u64,
    /// Whether steps are proportional to edge weights.
    pub weighted: bool,
}

impl Roots {
    fn check(&self) -> Result<(), Error> {
        // With less than this a row is a matter of the whole graph, and rounding could keep a push from ending.
        if !(1e-3..=1.0).contains(&self.restart) {
            return Err(Error::parameter("restart", self.restart, "at least 0.001 and at most 1"));
        }
        if !(1e-7..=self.restart).contains(&self.drop) {
            return Err(Error::parameter("drop", self.drop, "at least 1e-7 and at most restart"));
        }
        if self.dim == 0 {
            return Err(Error::parameter("dim", self.dim, "at least 1"));
        }
        Ok(())
    }
}

/// What rows were made of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Entries {
    /// Rows that were computed.
    pub rows: usize,
    /// Entries of all of them.
    pub total: u64,
    /// Entries of the longest.
    pub largest: u64,
    /// The mass that was dropped, summed over the rows: of each, what its entries lack to 1.
    pub dropped: f64,
    /// Edges that walks were followed over.
    pub steps: u64,
}

impl Entries {
    fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            total: self.total + other.total,
            largest: self.largest.max(other.largest),
            dropped: self.dropped + other.dropped,
            steps: self.steps + other.steps,
        }
    }
}

/// Signatures of all rows, or of some: s_i = Σ_j √p_ij · r_j, scaled to length 1.
///
/// p_i is the random walk with restart from i, without the entries below `drop`; r_j is a vector of random signs, drawn
/// by (seed, node key, column). The cosine of two signatures estimates the Bhattacharyya coefficient Σ_j √(p_ij p_kj).
///
/// p_i is found in rounds. All mass is at i at first. In every round each node that holds at least a fifth of `drop` for
/// each of its edges keeps the share c of it and passes the rest on, all of them at once. When there is none left, every
/// node keeps the share c of what it holds. No entry is larger than that of the walk itself, and the walks followed go
/// over at most 5 / (c · drop) edges, whatever the degrees.
///
/// # Arguments
/// `rows`: the rows to compute, in the order of `out`; all if `None`. `out`: `dim` numbers for each of them.
///
/// # Errors
/// Parameters out of range, rows that do not exist, an `out` of another size, too little memory, cancellation.
///
/// ```
/// use gme::control::Control;
/// use gme::graph::Graph;
/// use gme::transforms::roots::{Roots, signature};
/// let graph = Graph::new(&["a", "b", "c"], &[0, 1], &[1, 2], None).unwrap();
/// let options = Roots { restart: 0.3, drop: 1e-4, dim: 64, seed: 42, weighted: false };
/// let (mut all, mut last) = (vec![0.0; 3 * 64], vec![0.0; 64]);
/// signature(&graph, None, &options, &Control::new(), &mut all).unwrap();
/// signature(&graph, Some(&[2]), &options, &Control::new(), &mut last).unwrap();
/// assert_eq!(all[2 * 64..], last);
/// ```
pub fn signature(
    graph: &Graph,
    rows: Option<&[u32]>,
    options: &Roots,
    control: &Control,
    out: &mut [f32],
) -> Result<Entries, Error> {
    options.check()?;
    let count = expect_rows(graph, rows)?;
    if options.dim.checked_mul(count) != Some(out.len()) {
        let needed = options.dim.saturating_mul(count);
        return Err(Error::Length { what: "out".into(), found: out.len(), needed, rule: "rows times dim" });
    }
    control.expect(count);
    let scratch = Scratch::new(|| Push::new(graph, options).map(|push| (push, Sketcher::new(options))));
    let parts = out.par_chunks_mut(ROWS * options.dim).enumerate().map(|(part, out)| {
        scratch.lend(|tools| {
            let (push, sketcher) = tools.as_mut().map_err(|error| error.clone())?;
            let mut sum = Entries::default();
            for (offset, out) in out.chunks_exact_mut(options.dim).enumerate() {
                let place = part * ROWS + offset;
                let row = rows.map_or(place, |rows| rows[place] as usize);
                let (entries, facts) = push.row(graph, row, control)?;
                sketcher.sketch(graph.keys(), entries, out);
                sum = sum.and(facts);
            }
            control.advance(sum.rows)?;
            Ok(sum)
        })
    });
    // One after the other: a sum of floats depends on its order.
    let parts: Vec<Entries> = parts.collect::<Result<_, Error>>()?;
    Ok(parts.into_iter().fold(Entries::default(), Entries::and))
}

/// Rows of the walk's matrix as they are before roots are taken: those of row i are entries `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Masses {
    /// Where each row's entries start.
    pub offsets: Vec<u64>,
    /// Nodes, each row's by rank.
    pub rows: Vec<u32>,
    /// Their shares of the walk, at least `drop`.
    pub masses: Vec<f32>,
}

/// The entries that [`signature`] takes the roots of.
///
/// # Errors
/// As there.
pub fn masses(graph: &Graph, rows: Option<&[u32]>, options: &Roots, control: &Control) -> Result<Masses, Error> {
    options.check()?;
    let count = expect_rows(graph, rows)?;
    control.expect(count);
    let scratch = Scratch::new(|| Push::new(graph, options));
    let lists = (0..count).into_par_iter().with_min_len(ROWS).map(|place| {
        scratch.lend(|push| {
            let push = push.as_mut().map_err(|error| error.clone())?;
            let row = rows.map_or(place, |rows| rows[place] as usize);
            let mut entries = push.row(graph, row, control)?.0.to_vec();
            entries.sort_unstable_by_key(|entry| graph.ranks()[entry.0 as usize]);
            control.advance(1)?;
            Ok(entries)
        })
    });
    let lists: Vec<Vec<(u32, f32)>> = lists.collect::<Result<_, Error>>()?;
    let mut offsets = vec![0];
    offsets.extend(lists.iter().scan(0, |end, list| {
        *end += list.len() as u64;
        Some(*end)
    }));
    let share = |visits: f32| (f64::from(visits) * options.restart) as f32;
    let entries = || lists.iter().flatten();
    Ok(Masses {
        offsets,
        rows: entries().map(|entry| entry.0).collect(),
        masses: entries().map(|entry| if graph.degree(entry.0 as usize) == 0 { 1.0 } else { share(entry.1) }).collect(),
    })
}

/// How many rows are asked for.
fn expect_rows(graph: &Graph, rows: Option<&[u32]>) -> Result<usize, Error> {
    let Some(rows) = rows else { return Ok(graph.nodes()) };
    match rows.iter().position(|&row| row as usize >= graph.nodes()) {
        Some(position) => {
            Err(Error::OutOfRange { what: "rows", position, value: u64::from(rows[position]), limit: graph.nodes() })
        }
        None => Ok(rows.len()),
    }
}
