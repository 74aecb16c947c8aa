//! Searching an index: the texts with the largest sums of what a question's terms are worth in them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::layout::{Index, Postings};
use super::weights::most_steps;
use super::words;
use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::filled;

/// Texts whose sums are held at a time: they stay in the processor's second cache.
const BLOCK: usize = 1 << 15;

/// Fills places that no text takes.
pub(super) const NO_ROW: u32 = u32::MAX;

/// Which rows the ranks stand for, and which of them may be found.
#[derive(Debug, Clone, Copy)]
pub struct Corpus<'a> {
    /// The row of each rank.
    pub order: &'a [u32],
    /// For each row, whether it may be found; `None`: all.
    pub allowed: Option<&'a [bool]>,
}

impl Corpus<'_> {
    fn check(&self, index: &Index<'_>) -> Result<(), Error> {
        let (needed, rule) = (index.texts, "one entry per text");
        for (what, found) in [("order", self.order.len()), ("allowed", self.allowed.map_or(needed, <[bool]>::len))] {
            if found != needed {
                return Err(Error::Length { what: what.into(), found, needed, rule });
            }
        }
        match self.order.iter().position(|&row| row as usize >= needed) {
            None => Ok(()),
            Some(position) => {
                let value = self.order[position].into();
                Err(Error::OutOfRange { what: "order", position, value, limit: needed })
            }
        }
    }

    fn allows(&self, rank: usize) -> bool {
        self.allowed.is_none_or(|allowed| allowed[self.order[rank] as usize])
    }
}

/// The `k` best rows of each question and their scores, best first, ties by rank; [`NO_ROW`] and minus infinity after
/// the last text that holds any of its terms.
///
/// # Errors
/// `corpus` is of other texts; results that do not fit the memory; cancellation.
pub fn top<T: AsRef<str> + Sync>(
    index: &Index<'_>,
    questions: &[T],
    k: usize,
    corpus: Corpus<'_>,
    control: &Control,
) -> Result<(Vec<u32>, Vec<f32>), Error> {
    corpus.check(index)?;
    control.expect(questions.len());
    let mut rows = filled("the results", NO_ROW, questions.len(), k)?;
    let mut scores = filled("the results", f32::NEG_INFINITY, questions.len(), k)?;
    if k == 0 {
        return Ok((rows, scores));
    }
    (rows.par_chunks_mut(k), scores.par_chunks_mut(k), questions).into_par_iter().try_for_each_init(
        Vec::new,
        |sums, (rows, scores, question)| {
            let lists = lists(index, question.as_ref());
            for (place, (sum, rank)) in best(index.texts, lists, k, corpus, sums).into_iter().enumerate() {
                rows[place] = corpus.order[rank];
                scores[place] = worth(index, sum);
            }
            control.advance(1)
        },
    )?;
    Ok((rows, scores))
}

/// The score of each of a question's ranks, `per_question` of them; minus infinity for [`NO_ROW`].
///
/// # Errors
/// Another number of ranks; cancellation.
pub fn scores<T: AsRef<str> + Sync>(
    index: &Index<'_>,
    questions: &[T],
    ranks: &[u32],
    per_question: usize,
    control: &Control,
) -> Result<Vec<f32>, Error> {
    let (found, needed) = (ranks.len(), questions.len() * per_question);
    if found != needed {
        return Err(Error::Length { what: "rows".into(), found, needed, rule: "a line per question" });
    }
    control.expect(questions.len());
    let mut scores = vec![f32::NEG_INFINITY; ranks.len()];
    if per_question == 0 {
        return Ok(scores);
    }
    let lines = (scores.par_chunks_mut(per_question), ranks.par_chunks(per_question), questions);
    lines.into_par_iter().try_for_each(|(scores, ranks, question)| {
        let lists = lists(index, question.as_ref());
        for (score, rank) in scores.iter_mut().zip(ranks).filter(|pair| *pair.1 != NO_ROW) {
            let steps = lists.iter().filter_map(|list| Some(list.steps[list.ranks.binary_search(rank).ok()?]));
            *score = worth(index, steps.fold(0, |sum: u32, steps| sum.saturating_add(steps.into())));
        }
        control.advance(1)
    })?;
    Ok(scores)
}

/// The postings of a question's terms, each once.
fn lists<'a>(index: &Index<'a>, question: &str) -> Vec<Postings<'a>> {
    let mut terms = Vec::new();
    words::terms(question, &mut terms);
    terms.sort_unstable();
    terms.dedup();
    terms.iter().filter_map(|&term| index.find(term)).collect()
}

fn worth(index: &Index<'_>, sum: u32) -> f32 {
    (f64::from(sum) * index.step) as f32
}

/// The best texts so far; the worst of them on top.
struct Best {
    k: usize,
    heap: BinaryHeap<Reverse<(u32, Reverse<usize>)>>,
}

impl Best {
    /// A sum that is no larger can't enter any more: texts come in ascending rank.
    fn floor(&self) -> u32 {
        if self.heap.len() < self.k { 0 } else { self.heap.peek().map_or(u32::MAX, |worst| worst.0.0) }
    }

    fn offer(&mut self, sum: u32, rank: usize) {
        if self.heap.len() == self.k {
            self.heap.pop();
        }
        self.heap.push(Reverse((sum, Reverse(rank))));
    }
}

/// The lists of a question, from the term that can add least to a sum to the one that can add most.
struct Ordered<'a> {
    lists: Vec<Postings<'a>>,
    /// What the lists before each can add together; one more entry for all.
    before: Vec<u32>,
}

impl<'a> Ordered<'a> {
    fn new(texts: usize, mut lists: Vec<Postings<'a>>) -> Self {
        lists.sort_by_key(|list| Reverse(list.ranks.len()));
        let mut before = vec![0_u32];
        for list in &lists {
            before.push(before[before.len() - 1].saturating_add(most_steps(texts, list.ranks.len().max(1))));
        }
        Self { lists, before }
    }

    /// How many lists can't lift a text above `floor` together: only texts of other lists are looked up in them.
    fn idle(&self, floor: u32) -> usize {
        self.before.partition_point(|&most| most <= floor) - 1
    }

    /// Takes what each list has up to rank `end` off its front.
    fn take(&mut self, end: usize) -> Vec<Postings<'a>> {
        let take = |list: &mut Postings<'a>| {
            let inside = list.ranks.partition_point(|&rank| (rank as usize) < end);
            let (ranks, left_ranks) = list.ranks.split_at(inside);
            let (steps, left_steps) = list.steps.split_at(inside);
            *list = Postings { ranks: left_ranks, steps: left_steps };
            Postings { ranks, steps }
        };
        self.lists.iter_mut().map(take).collect()
    }

    /// The whole sum of a text whose other lists sum to `sum`; `None` once it can't get above `floor`.
    fn completed(&self, sum: u32, idle: &[Postings<'a>], rank: usize, floor: u32) -> Option<u32> {
        let mut sum = sum;
        for (place, list) in idle.iter().enumerate().rev() {
            if sum.saturating_add(self.before[place + 1]) <= floor {
                return None;
            }
            if let Ok(found) = list.ranks.binary_search(&(rank as u32)) {
                sum = sum.saturating_add(list.steps[found].into());
            }
        }
        (sum > floor).then_some(sum)
    }
}

/// The `k` largest sums and their ranks, best first.
///
/// The texts are passed over block by block. Once `k` are found, terms of many texts add too little to lift a text among
/// them alone, and are looked up only in texts that hold a rarer term (MaxScore; Turtle and Flood 1995). What is left
/// out could not have entered, so that the result is that of adding up all.
fn best(
    texts: usize,
    lists: Vec<Postings<'_>>,
    k: usize,
    corpus: Corpus<'_>,
    sums: &mut Vec<u32>,
) -> Vec<(u32, usize)> {
    let mut best = Best { k, heap: BinaryHeap::new() };
    let mut ordered = Ordered::new(texts, lists);
    sums.resize(BLOCK.min(texts), 0);
    for first in (0..texts).step_by(BLOCK) {
        let end = (first + BLOCK).min(texts);
        let parts = ordered.take(end);
        let (idle, adding) = parts.split_at(ordered.idle(best.floor()));
        if adding.iter().all(|list| list.ranks.is_empty()) {
            continue;
        }
        for list in adding {
            add_up(list, first, sums);
        }
        for (place, sum) in sums[..end - first].iter_mut().enumerate().filter(|(_, sum)| **sum > 0) {
            let (rank, sum) = (first + place, std::mem::take(sum));
            if let Some(sum) = ordered.completed(sum, idle, rank, best.floor())
                && corpus.allows(rank)
            {
                best.offer(sum, rank);
            }
        }
    }
    best.heap.into_sorted_vec().into_iter().map(|Reverse((sum, Reverse(rank)))| (sum, rank)).collect()
}

/// Adds what a list has in a block to the sums of the block's texts.
fn add_up(list: &Postings<'_>, first: usize, sums: &mut [u32]) {
    for (&rank, &steps) in list.ranks.iter().zip(list.steps) {
        // A rank before the block is that of a damaged index.
        if let Some(sum) = sums.get_mut((rank as usize).wrapping_sub(first)) {
            *sum = sum.saturating_add(steps.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::lexical::build::Builder;
    use crate::lexical::rest::{Shape, rest};
    use crate::lexical::weights::Bm25;

    const OPTIONS: Bm25 = Bm25 { k1: 0.9, b: 0.4 };

    fn built(texts: &[&str], most_held: usize, block: usize) -> Vec<u64> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gme-lexical-{}-{number}", std::process::id()));
        let mut options = std::fs::File::options();
        let spill = options.read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        let mut builder = Builder::new(texts.len(), OPTIONS, Some(spill), most_held).unwrap();
        let ranks: Vec<u32> = (0..texts.len() as u32).collect();
        for (texts, ranks) in texts.chunks(block).zip(ranks.chunks(block)) {
            builder.add(texts, ranks, &Control::new()).unwrap();
        }
        let mut out = Cursor::new(Vec::new());
        builder.finish(&mut out, &Control::new()).unwrap();
        std::fs::remove_file(path).unwrap();
        bytemuck::allocation::pod_collect_to_vec(&out.into_inner())
    }

    const TEXTS: [&str; 5] = ["red fox", "the red red house", "", "a house of a fox", "House of Fox"];

    #[test]
    fn ties_go_to_the_smaller_rank_and_others_are_left_out() {
        let data = built(&TEXTS, 1 << 20, 5);
        let index = Index::new(&data).unwrap();
        let order = [4, 3, 2, 1, 0];
        let corpus = Corpus { order: &order, allowed: None };
        let (rows, scores) = top(&index, &["houses of the fox"], 5, corpus, &Control::new()).unwrap();
        // Ranks 3 and 4 hold the pair and tie; the order says which rows they are.
        assert_eq!(rows, [1, 0, 4, 3, NO_ROW]);
        assert_eq!(scores[0], scores[1]);
        assert_eq!(scores[4], f32::NEG_INFINITY);
        let same = super::scores(&index, &["houses of the fox"], &[3, 4, 0, 1, 2], 5, &Control::new()).unwrap();
        assert_eq!(same[..4], scores[..4]);
        assert_eq!(same[4], 0.0);
    }

    #[test]
    fn blocks_and_the_disk_change_no_byte() {
        let expected = built(&TEXTS, 1 << 20, 5);
        for (most_held, block) in [(0, 1), (3, 2), (1 << 20, 3)] {
            assert_eq!(built(&TEXTS, most_held, block), expected);
        }
    }

    #[test]
    fn a_damaged_index_is_refused_or_finds_something_else() {
        let data = built(&TEXTS, 1 << 20, 5);
        assert!(Index::new(&data[..data.len() - 1]).is_err());
        let order = [0, 1, 2, 3, 4];
        for place in 0..data.len() {
            for value in [0, 1, u64::MAX, 1 << 32, 1 << 63] {
                let mut harmed = data.clone();
                harmed[place] = value;
                if let Ok(index) = Index::new(&harmed) {
                    let order = if index.texts == 5 { &order[..] } else { &[] };
                    let corpus = Corpus { order, allowed: None };
                    let _ = top(&index, &["red fox house"], 3, corpus, &Control::new());
                    let _ = super::scores(&index, &["red fox house"], &[3, 9], 2, &Control::new());
                    let shape = Shape { seeds: 1, candidates: 3 };
                    let _ = rest(&index, &["red fox house"], &[1], &[3, 9, 0], shape, &Control::new());
                }
            }
        }
    }
}
