//! Whole numbers in the order of (score, rank) pairs: by the score, and for equal scores by the rank.
//!
//! One comparison of integers is enough. Floats with ties would take several, and a look at a table of ranks.

/// The key of an integer score and a rank. The rank may also be a place in a list that is sorted by rank.
#[inline(always)]
pub(super) fn key(score: i32, rank: u32) -> u64 {
    u64::from(score as u32 ^ 1 << 31) << 32 | u64::from(rank)
}

#[inline(always)]
pub(super) fn score(key: u64) -> i32 {
    ((key >> 32) as u32 ^ 1 << 31) as i32
}

#[inline(always)]
pub(super) fn rank(key: u64) -> u32 {
    key as u32
}

/// A whole number with the same order as the float.
#[inline(always)]
pub(super) fn ordered(score: f32) -> i32 {
    let bits = score.to_bits() as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_scores_and_ranks_do() {
        let scores = [-2.0, -1.0, -f32::MIN_POSITIVE, 0.0, f32::MIN_POSITIVE, 0.5, 1.0];
        assert!(scores.map(ordered).is_sorted_by(|a, b| a < b));
        let keys = [(i32::MIN, 5), (-1, 2), (-1, 3), (0, 0), (7, u32::MAX), (i32::MAX, 1)].map(|(a, b)| key(a, b));
        assert!(keys.is_sorted_by(|a, b| a < b));
        assert!(keys.map(score) == [i32::MIN, -1, -1, 0, 7, i32::MAX] && rank(keys[4]) == u32::MAX);
    }
}
