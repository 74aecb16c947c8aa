//! Means over the least or most similar nodes two hops away.
//!
//! A task handles some consecutive rows at a time. It finds the nodes two hops from any of them
//! together ([`TwoHopSearch`]).
//! It compares each such node with all rows that need it, while it is in the cache ([`QuantizedVectors`]).

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::keys::{self, key, ordered, rank};
use super::quantized::QuantizedVectors;
use super::two_hop_search::{ROWS, TwoHopSearch, bits};
use super::{Hop, passable, scale, score};
use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::linalg::means::Mean;
use crate::linalg::prefetch::{MOST, prefetch, prefetch_far};
use crate::linalg::vectors::{Matrix, simd};
use crate::memory::scratch::Scratch;

/// The most pairs of a row and a node that are listed at once (8 MiB per thread). A single row may have more.
const PAIRS: usize = 1 << 20;
/// How many numbers are read between two checks whether to stop.
const CHECK: usize = 1 << 20;
/// How many nodes ahead a node's numbers are prefetched.
const AHEAD: usize = 8;

/// What all tiles share.
struct Task<'a> {
    graph: &'a Graph,
    x: Matrix<'a>,
    norms: &'a [f32],
    /// `None` if all nodes are taken, or if the vectors cannot be quantized.
    quantized: Option<&'a QuantizedVectors>,
    options: &'a Hop,
    control: &'a Control,
}

/// Does at two hops what [`super::one`] does.
pub(super) fn hop(
    graph: &Graph,
    x: Matrix<'_>,
    norms: &[f32],
    options: &Hop,
    control: &Control,
    out: &mut [f32],
) -> Result<bool, Error> {
    let quantized = if norms.is_empty() { None } else { QuantizedVectors::new(x, norms)? };
    // With quantized vectors so few of the others are read that copying all of them would take longer.
    let copy = if quantized.is_some() { None } else { x.in_pages()? };
    let x = x.read_from(copy.as_deref());
    let task = Task { graph, x, norms, quantized: quantized.as_ref(), options, control };
    let finite = AtomicBool::new(true);
    let dim = x.dim();
    let scratch = Scratch::new(|| Tile::new(graph.nodes(), dim));
    out.par_chunks_mut(ROWS * dim).enumerate().try_for_each(|(chunk, mut out)| {
        scratch.lend(|tile| {
            let mut first = chunk * ROWS;
            while !out.is_empty() {
                let rows = first..first + out.len() / dim;
                let count = tile.lists.fit(graph, rows, options.max_hub_degree, PAIRS);
                let (now, later) = out.split_at_mut(count * dim);
                tile.list(&task, first..first + count)?;
                let usable = simd(
                    #[inline(always)]
                    || tile.average(&task, first, now),
                )?;
                finite.fetch_and(usable, Ordering::Relaxed);
                control.advance(count)?;
                (first, out) = (first + count, later);
            }
            Ok(())
        })
    })?;
    Ok(finite.into_inner())
}

/// The lists of one thread.
struct Tile {
    search: TwoHopSearch,
    lists: Lists,
    choice: Choice,
    /// The rows to average now.
    rows: Vec<u32>,
    mean: Mean,
}

impl Tile {
    fn new(nodes: usize, dim: usize) -> Self {
        Self {
            search: TwoHopSearch::new(nodes),
            lists: Lists::default(),
            choice: Choice::default(),
            rows: Vec::new(),
            mean: Mean::new(dim),
        }
    }

    /// Lists the nodes two hops from each of `rows`, with the cosines that the quantized vectors estimate.
    fn list(&mut self, task: &Task<'_>, rows: Range<usize>) -> Result<(), Error> {
        let ranks = task.graph.ranks();
        let found = self.search.find(task.graph, rows.clone(), task.options.max_hub_degree, task.control)?;
        let lists = &mut self.lists;
        let Some(quantized) = task.quantized else {
            for &mut (other, mask) in found {
                bits(mask).for_each(|bit| lists.push(bit, key(0, ranks[other as usize])));
            }
            return Ok(());
        };
        let sign = if task.options.least { 1 } else { -1 };
        let nodes = (CHECK / task.x.dim()).max(1);
        for start in (0..found.len()).step_by(nodes) {
            task.control.check()?;
            simd(
                #[inline(always)]
                || {
                    for i in start..found.len().min(start + nodes) {
                        if let Some(&(next, _)) = found.get(i + AHEAD) {
                            quantized.prefetch(next as usize);
                            prefetch(&ranks[next as usize]);
                        }
                        let (other, mask) = found[i];
                        for bit in bits(mask) {
                            let product = quantized.product(rows.start + bit, other as usize);
                            lists.push(bit, key(sign * product, ranks[other as usize]));
                        }
                    }
                },
            );
        }
        Ok(())
    }

    /// Writes the rows from `first` on. Returns whether they are finite, if the norms have not shown that already.
    #[inline(always)]
    fn average(&mut self, task: &Task<'_>, first: usize, out: &mut [f32]) -> Result<bool, Error> {
        let x = task.x;
        let mut finite = true;
        self.choice.set(task, first, self.lists.of(0));
        for (i, out) in out.chunks_exact_mut(x.dim()).enumerate() {
            task.control.check()?;
            let row = first + i;
            std::mem::swap(&mut self.rows, &mut self.choice.rows);
            if i + 1 < self.lists.rows() {
                self.choice.set(task, row + 1, self.lists.of(i + 1));
                for &next in self.choice.rows.iter().take(MOST) {
                    prefetch_far(x.row(next as usize));
                }
            }
            self.mean.set(
                x,
                &self.rows,
                #[inline(always)]
                |_| 1.0,
            );
            finite &= !task.norms.is_empty() || x.is_finite(row);
            self.mean.blend(task.options.alpha, x.row(row), out);
        }
        Ok(finite)
    }
}

/// The nodes from which each row of a tile may choose, as [`key`]s.
#[derive(Default)]
struct Lists {
    keys: Vec<u64>,
    /// Where each row's list starts and ends.
    spans: Vec<Range<usize>>,
}

impl Lists {
    /// Makes room for the lists of the first rows that have at most `most` pairs together, or of the first row alone.
    /// Returns the number of these rows.
    fn fit(&mut self, graph: &Graph, rows: Range<usize>, max_hub_degree: usize, most: usize) -> usize {
        self.spans.clear();
        let mut sum = 0;
        for row in rows {
            let middles = graph.neighbors(row).iter().map(|&middle| middle as usize);
            let paths: usize = middles
                .filter(|&middle| passable(graph, middle, max_hub_degree))
                .map(|middle| graph.degree(middle) - 1)
                .sum();
            let pairs = paths.min(graph.nodes());
            if sum + pairs > most && !self.spans.is_empty() {
                break;
            }
            self.spans.push(sum..sum);
            sum += pairs;
        }
        if self.keys.len() < sum {
            self.keys.resize(sum, 0);
        }
        self.spans.len()
    }

    fn rows(&self) -> usize {
        self.spans.len()
    }

    #[inline(always)]
    fn push(&mut self, row: usize, key: u64) {
        let end = &mut self.spans[row].end;
        self.keys[*end] = key;
        *end += 1;
    }

    #[inline(always)]
    fn of(&mut self, row: usize) -> &mut [u64] {
        &mut self.keys[self.spans[row].clone()]
    }
}

/// The nodes that a row chooses.
#[derive(Default)]
struct Choice {
    /// The chosen nodes, by rank.
    rows: Vec<u32>,
    unsure: Vec<u32>,
    exact: Vec<u64>,
    own: Vec<f32>,
}

impl Choice {
    /// Chooses among the nodes with these keys.
    #[inline(always)]
    fn set(&mut self, task: &Task<'_>, row: usize, keys: &mut [u64]) {
        let order = task.graph.order();
        let count = task.options.count(keys.len());
        self.rows.clear();
        self.unsure.clear();
        if count == 0 || count == keys.len() {
            self.rows.extend(keys[..count].iter().map(|&key| rank(key)));
        } else if let Some(quantized) = task.quantized {
            let last = i64::from(keys::score(*keys.select_nth_unstable(count - 1).1));
            // The exact product of the last chosen node differs from this one by less than half a margin, and so does
            // each product from its exact value.
            let bound = |product: i64| product.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            let lowest = key(bound(last - quantized.margin()), 0);
            let highest = key(bound(last + quantized.margin()), u32::MAX);
            let (first, rest) = keys.split_at(count);
            for &key in first {
                let list = if key < lowest { &mut self.rows } else { &mut self.unsure };
                list.push(rank(key));
            }
            self.unsure.extend(rest.iter().filter(|&&key| key <= highest).map(|&key| rank(key)));
        } else {
            self.unsure.extend(keys.iter().map(|&key| rank(key)));
        }
        let missing = count - self.rows.len();
        if missing < self.unsure.len() {
            self.decide(task, row, missing);
        }
        self.rows.extend_from_slice(&self.unsure[..missing]);
        self.rows.sort_unstable();
        for rank in &mut self.rows {
            *rank = order[*rank as usize];
        }
    }

    /// Puts the best `count` of the unsure nodes first, by their exact cosines.
    #[inline(always)]
    fn decide(&mut self, task: &Task<'_>, row: usize, count: usize) {
        if count == 0 {
            return;
        }
        let (order, ranks) = (task.graph.order(), task.graph.ranks());
        for rank in &mut self.unsure {
            *rank = order[*rank as usize];
        }
        self.exact.clear();
        scale(task.x.row(row), task.norms[row], &mut self.own);
        let (exact, unsure) = (&mut self.exact, &self.unsure);
        score(
            task.x,
            task.norms,
            &self.own,
            unsure,
            unsure.len(),
            task.options.least,
            #[inline(always)]
            |score, place| exact.push(key(ordered(score), ranks[unsure[place] as usize])),
        );
        exact.select_nth_unstable(count - 1);
        self.unsure.clear();
        self.unsure.extend(exact.iter().map(|&key| rank(key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_a_hub_are_made_a_few_at_a_time() {
        let ids: Vec<String> = (0..1000).map(|row| format!("{row}")).collect();
        let graph = Graph::new(&ids, &vec![7; 1000], &(0..1000).collect::<Vec<_>>(), None).unwrap();
        let mut lists = Lists::default();
        assert_eq!(lists.fit(&graph, 100..164, 0, 10_000), 10);
        assert!(lists.keys.len() <= 10_000);
        assert_eq!(lists.fit(&graph, 100..164, 0, 10), 1); // one row whatever it takes
        assert_eq!(lists.fit(&graph, 100..164, 500, 10), 64); // no paths at all
    }
}
