//! What a term is worth in a text: BM25 (Robertson and Zaragoza 2009), in whole steps.

use crate::random::logarithm;

/// The parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How fast repetitions of a term stop counting.
    pub k1: f64,
    /// How much longer texts count less, 0 to 1.
    pub b: f64,
}

/// The worth of terms in texts of one corpus.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    options: Bm25,
    texts: usize,
    average_length: f64,
    /// What one step is worth.
    pub step: f64,
}

impl Weights {
    /// For a corpus of so many texts, with so many terms in all of them together.
    pub fn new(options: Bm25, texts: usize, terms: u64) -> Self {
        let mut weights = Self { options, texts, average_length: 1.0, step: 1.0 };
        if terms > 0 {
            weights.average_length = terms as f64 / texts as f64;
            // No term is worth more than one of a single text, repeated without end.
            weights.step = weights.rarity(1) * (options.k1 + 1.0) / f64::from(u16::MAX);
        }
        weights
    }

    /// [`rarity`] of a term that stands in so many of the corpus's texts.
    pub fn rarity(&self, holding: usize) -> f64 {
        rarity(self.texts, holding)
    }

    /// rarity · tf (k1 + 1) / (tf + k1 (1 - b + b · length / average length), in steps; at least one.
    pub fn steps(&self, rarity: f64, count: u32, length: u32) -> u16 {
        let Bm25 { k1, b } = self.options;
        let count = f64::from(count);
        let damping = k1 * (1.0 - b + b * f64::from(length) / self.average_length);
        let worth = rarity * count * (k1 + 1.0) / (count + damping);
        ((worth / self.step).round() as u16).max(1)
    }
}

/// The inverse document frequency ln(1 + (N - n + .5) / (n + .5)) of a term that stands in n of N texts.
pub fn rarity(texts: usize, holding: usize) -> f64 {
    let (texts, holding) = (texts as f64, holding as f64);
    logarithm(1.0 + (texts - holding + 0.5) / (holding + 0.5))
}

/// No text has more steps of a term that stands in `holding` of them.
pub fn most_steps(texts: usize, holding: usize) -> u32 {
    let share = rarity(texts, holding) / rarity(texts, 1);
    // One more for rounding, here and when steps were made; at least the step that every term is worth.
    (share * f64::from(u16::MAX)).ceil() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worth_by_hand() {
        let weights = Weights::new(Bm25 { k1: 0.9, b: 0.4 }, 10, 40);
        let rarity = weights.rarity(2);
        assert!((rarity - (1.0_f64 + 8.5 / 2.5).ln()).abs() < 1e-12);
        let worth = rarity * 3.0 * 1.9 / (3.0 + 0.9 * (0.6 + 0.4 * 8.0 / 4.0));
        assert!((f64::from(weights.steps(rarity, 3, 8)) * weights.step - worth).abs() < weights.step);
    }

    #[test]
    fn a_term_of_every_text_is_worth_a_step() {
        let weights = Weights::new(Bm25 { k1: 0.9, b: 0.4 }, 5_000_000, 500_000_000);
        assert_eq!(weights.steps(weights.rarity(5_000_000), 1, 100), 1);
        let most = weights.steps(weights.rarity(1), u32::MAX, 1);
        assert!(most > 65_000, "{most}");
    }

    #[test]
    fn no_text_has_more_steps_than_the_most() {
        for texts in [1, 2, 7, 1000] {
            let weights = Weights::new(Bm25 { k1: 0.9, b: 0.4 }, texts, 30 * texts as u64);
            for holding in 1..=texts {
                let most = u32::from(weights.steps(weights.rarity(holding), u32::MAX - 1, 0));
                assert!(most <= most_steps(texts, holding), "{holding} of {texts}: {most}");
            }
        }
    }
}
