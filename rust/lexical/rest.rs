//! The rest of a question: which of its words a text says that another text does not say.

use rayon::prelude::*;

use super::layout::{Index, Postings};
use super::search::NO_ROW;
use super::weights::rarity;
use super::words;
use crate::control::Control;
use crate::error::Error;
use crate::linalg::vectors::filled;
use crate::random::key;

/// How many seeds and candidates each question has.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Texts that say a part of the question.
    pub seeds: usize,
    /// Texts that may say the rest.
    pub candidates: usize,
}

/// For each question, each of its seeds and each of its candidates: what the question's words are worth in the candidate
/// that the seed does not hold, as a share of the rarities of all its words; 0 where either is [`NO_ROW`].
///
/// Words only, each once: a pair is no more of an answer than its words. Seeds and candidates are given by rank.
///
/// # Errors
/// Another number of ranks; results that do not fit the memory; cancellation.
pub fn rest<T: AsRef<str> + Sync>(
    index: &Index<'_>,
    questions: &[T],
    seeds: &[u32],
    candidates: &[u32],
    shape: Shape,
    control: &Control,
) -> Result<Vec<f32>, Error> {
    for (what, found, width) in [("seeds", seeds.len(), shape.seeds), ("rows", candidates.len(), shape.candidates)] {
        if found != questions.len() * width {
            let (what, needed) = (what.into(), questions.len() * width);
            return Err(Error::Length { what, found, needed, rule: "a line per question" });
        }
    }
    control.expect(questions.len());
    let mut shares = filled("the results", 0.0_f32, questions.len(), shape.seeds * shape.candidates)?;
    if shares.is_empty() {
        return Ok(shares);
    }
    let lines = (
        shares.par_chunks_mut(shape.seeds * shape.candidates),
        seeds.par_chunks(shape.seeds),
        candidates.par_chunks(shape.candidates),
        questions,
    );
    lines.into_par_iter().try_for_each(|(shares, seeds, candidates, question)| {
        let (lists, whole) = lists(index, question.as_ref());
        let worth: Vec<Vec<u16>> = lists.iter().map(|list| steps_in(list, candidates)).collect();
        for (shares, &seed) in shares.chunks_mut(shape.candidates).zip(seeds).filter(|pair| *pair.1 != NO_ROW) {
            let mut sums = vec![0_u32; shape.candidates];
            for (list, worth) in lists.iter().zip(&worth) {
                if list.ranks.binary_search(&seed).is_err() {
                    sums.iter_mut().zip(worth).for_each(|(sum, &steps)| *sum = sum.saturating_add(steps.into()));
                }
            }
            for (share, sum) in shares.iter_mut().zip(sums).filter(|pair| pair.1 > 0) {
                *share = (f64::from(sum) * index.step / whole) as f32;
            }
        }
        control.advance(1)
    })?;
    Ok(shares)
}

/// The postings of a question's words, each once, and the rarities of all together, of those in no text too.
fn lists<'a>(index: &Index<'a>, question: &str) -> (Vec<Postings<'a>>, f64) {
    let mut terms = Vec::new();
    words::each_word(question, |word| terms.push(key(word)));
    terms.sort_unstable();
    terms.dedup();
    let found: Vec<_> = terms.iter().map(|&term| index.find(term)).collect();
    let holding = found.iter().map(|list| list.map_or(0, |list| list.ranks.len()));
    let whole = holding.map(|holding| rarity(index.texts, holding)).sum();
    (found.into_iter().flatten().collect(), whole)
}

/// What a term is worth in each of these texts, in steps; 0 where it is not.
///
/// Candidates mostly come in ascending order, so that each is looked for behind the one before.
fn steps_in(list: &Postings<'_>, candidates: &[u32]) -> Vec<u16> {
    let (mut from, mut before) = (0, 0);
    let find = |&rank: &u32| {
        if rank == NO_ROW {
            return 0;
        }
        if rank < before {
            from = 0;
        }
        before = rank;
        from += first_from(&list.ranks[from..], rank);
        if list.ranks.get(from) == Some(&rank) { list.steps[from] } else { 0 }
    };
    candidates.iter().map(find).collect()
}

/// The first place of a rank that is not below `wanted`: steps that double from the front, then a binary search.
fn first_from(ranks: &[u32], wanted: u32) -> usize {
    let mut end = 1;
    while end <= ranks.len() && ranks[end - 1] < wanted {
        end *= 2;
    }
    let start = end / 2;
    start + ranks[start..end.min(ranks.len())].partition_point(|&rank| rank < wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_found_wherever_one_starts() {
        let ranks = [2, 3, 7, 8, 20, 21, 22, 40];
        for wanted in 0..45 {
            let expected = ranks.iter().filter(|&&rank| rank < wanted).count();
            assert_eq!(first_from(&ranks, wanted), expected);
            assert_eq!(first_from(&ranks[..3], wanted), expected.min(3));
        }
        assert_eq!(first_from(&[], 5), 0);
    }

    #[test]
    fn candidates_may_come_in_any_order() {
        let list = Postings { ranks: &[2, 3, 7, 8], steps: &[20, 30, 70, 80] };
        assert_eq!(steps_in(&list, &[8, 1, 3, NO_ROW, 3, 9, 2, 7]), [80, 0, 30, 0, 30, 0, 20, 70]);
    }
}
