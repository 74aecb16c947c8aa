//! Entries of tables at places that follow no order.
//!
//! A place is clamped to the table instead of being checked against it. That leaves a loop without branches, of which the
//! compiler makes instructions that load for eight or sixteen places at once (AVX-512: `vpgatherqd`); with a check, or with
//! a clamped place that is checked all the same, it loads one by one. A step of a random walk takes six tenths of the time
//! (100,000 nodes, 965,000 edges). Hence the two `unsafe` blocks here, each after what makes it sound.

/// The entry at a place, or the last one for any place beyond it.
///
/// # Panics
/// If the table is empty.
#[inline(always)]
pub fn at(table: &[u32], place: usize) -> u32 {
    assert!(!table.is_empty(), "an empty table");
    // SAFETY: the place is at most that of the last entry, and there is one.
    #[allow(unsafe_code)]
    unsafe {
        *table.get_unchecked(place.min(table.len() - 1))
    }
}

/// The entries at a place and at the next one, by a single load; the last two for any place beyond them.
///
/// # Panics
/// If the table has fewer than two entries.
#[inline(always)]
pub fn pair(table: &[u32], place: usize) -> [u32; 2] {
    assert!(table.len() >= 2, "a table of fewer than two entries");
    // SAFETY: the place and the next one are at most that of the last entry. Two entries side by side are an array of two,
    // but for its alignment, which this read does not ask for.
    #[allow(unsafe_code)]
    unsafe {
        table.as_ptr().add(place.min(table.len() - 2)).cast::<[u32; 2]>().read_unaligned()
    }
}

/// How many values to work on at once: as many as a register of AVX-512 holds.
pub const SIDE_BY_SIDE: usize = 16;

/// Replaces every place by the entry there. Call it inside a dispatch (`simd`).
#[inline(always)]
pub fn look_up(table: &[u32], places: &mut [u32]) {
    let (blocks, rest) = places.as_chunks_mut::<SIDE_BY_SIDE>();
    for block in blocks {
        // In a copy, which the compiler knows not to overlap with the table.
        let mut entries = *block;
        for entry in &mut entries {
            *entry = at(table, *entry as usize);
        }
        *block = entries;
    }
    for place in rest {
        *place = at(table, *place as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_end_are_the_last() {
        assert_eq!([0, 2, 3, usize::MAX].map(|place| at(&[5, 6, 7], place)), [5, 7, 7, 7]);
        assert_eq!([0, 1, 2, usize::MAX].map(|place| pair(&[5, 6, 7], place)), [[5, 6], [6, 7], [6, 7], [6, 7]]);
    }

    #[test]
    fn all_are_looked_up() {
        let table: Vec<u32> = (0..50).map(|entry| 100 - entry).collect();
        for count in [0, 1, 16, 37] {
            let mut places: Vec<u32> = (0..count).map(|place| place * 7 % 50).collect();
            let expected: Vec<u32> = places.iter().map(|&place| table[place as usize]).collect();
            look_up(&table, &mut places);
            assert_eq!(places, expected);
        }
    }

    #[test]
    #[should_panic(expected = "empty")]
    fn an_empty_table_has_no_entries() {
        at(&[], 0);
    }

    #[test]
    #[should_panic(expected = "two")]
    fn one_entry_is_no_pair() {
        pair(&[1], 0);
    }
}
