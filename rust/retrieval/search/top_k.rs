//! The best rows of a query so far, and the merging of the parts of a search.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A row that may be among the best. The order is reversed: greater means worse, so that the worst is on top of the
/// heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) score: f32,
    pub(super) rank: u32,
    pub(super) row: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The best candidates of one query so far.
pub(super) struct TopK {
    k: usize,
    excluded: Vec<u32>,
    heap: BinaryHeap<Candidate>,
}

impl TopK {
    pub(super) fn new(k: usize, excluded: &[u32]) -> Self {
        let mut excluded = excluded.to_vec();
        excluded.sort_unstable();
        Self { k, excluded, heap: BinaryHeap::new() }
    }

    /// The score below which no candidate can enter any more.
    #[inline(always)]
    pub(super) fn floor(&self) -> f32 {
        if self.heap.len() < self.k {
            return f32::NEG_INFINITY;
        }
        self.heap.peek().map_or(f32::INFINITY, |worst| worst.score)
    }

    #[inline(never)]
    pub(super) fn offer(&mut self, candidate: Candidate) {
        if self.excluded.binary_search(&candidate.row).is_ok() {
            return;
        }
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }
}

/// For each query, writes the `k` best of all candidates that the parts of a search found.
pub(super) fn merge(partial: Vec<Vec<TopK>>, k: usize, rows: &mut [u32], scores: &mut [f32]) {
    let queries = rows.len() / k;
    let mut all: Vec<Vec<Candidate>> = vec![Vec::new(); queries];
    for part in partial {
        for (all, best) in all.iter_mut().zip(part) {
            all.extend(best.heap);
        }
    }
    for (query, mut all) in all.into_iter().enumerate() {
        all.sort_unstable();
        for (place, candidate) in all.into_iter().take(k).enumerate() {
            rows[query * k + place] = candidate.row;
            scores[query * k + place] = candidate.score;
        }
    }
}
