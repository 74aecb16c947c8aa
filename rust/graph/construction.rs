//! The steps by which a graph is built from edges: checks, sorted ids, and sorted rows without repetition.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;

/// The number of edges between two checks whether to stop.
const EDGES: usize = 1 << 20;

/// Refuses edges whose ends or weights are not valid.
pub(super) fn check_edges(
    nodes: usize,
    sources: &[u32],
    targets: &[u32],
    weights: Option<&[f64]>,
) -> Result<(), Error> {
    if nodes >= u32::MAX as usize {
        return Err(Error::TooMany { what: "nodes", found: nodes, limit: u32::MAX as usize - 1 });
    }
    let same_length = |what: &'static str, found| {
        if found == sources.len() {
            return Ok(());
        }
        Err(Error::Length { what: what.into(), found, needed: sources.len(), rule: "one per edge, as many as sources" })
    };
    same_length("targets", targets.len())?;
    same_length("weights", weights.map_or(sources.len(), <[f64]>::len))?;
    for (what, rows) in [("sources", sources), ("targets", targets)] {
        if let Some(position) = rows.iter().position(|&row| row as usize >= nodes) {
            return Err(Error::OutOfRange { what, position, value: u64::from(rows[position]), limit: nodes });
        }
    }
    let usable = |weight: f64| weight as f32 > 0.0 && (weight as f32).is_finite();
    match weights
        .and_then(|weights| weights.iter().position(|&weight| !usable(weight)).map(|edge| (edge, weights[edge])))
    {
        Some((edge, value)) => Err(Error::Weight { edge, value }),
        None => Ok(()),
    }
}

/// The rows sorted by id, and the place of each row in that order.
pub(super) fn sort_ids<'a>(
    nodes: usize,
    id: &(impl Fn(usize) -> &'a str + Sync),
) -> Result<(Vec<u32>, Vec<u32>), Error> {
    // The byte order of UTF-8 is the order of code points. Most pairs differ in their first eight bytes, and comparing
    // these needs no access to the ids.
    let mut sorted: Vec<(u64, u32)> =
        (0..nodes).into_par_iter().map(|row| (first_bytes(id(row)), row as u32)).collect();
    sorted.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| id(a.1 as usize).cmp(id(b.1 as usize))).then(a.1.cmp(&b.1))
    });
    let same = |a: &(u64, u32), b: &(u64, u32)| a.0 == b.0 && id(a.1 as usize) == id(b.1 as usize);
    if let Some(pair) = sorted.windows(2).find(|pair| same(&pair[0], &pair[1])) {
        let rows = (pair[0].1 as usize, pair[1].1 as usize);
        return Err(Error::DuplicateId { id: id(rows.0).to_owned(), rows });
    }
    let mut ranks = vec![0; nodes];
    for (rank, &(_, row)) in sorted.iter().enumerate() {
        ranks[row as usize] = rank as u32;
    }
    Ok((sorted.into_iter().map(|(_, row)| row).collect(), ranks))
}

/// The first eight bytes as a number. It is smaller than that of another string only if this string sorts first.
fn first_bytes(string: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = string.len().min(8);
    bytes[..length].copy_from_slice(&string.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// Where the entries of each row start while parallel edges still count separately.
pub(super) fn row_slots(nodes: usize, sources: &[u32], targets: &[u32], control: &Control) -> Result<Vec<u64>, Error> {
    let mut slots = vec![0u64; nodes + 1];
    for (sources, targets) in sources.chunks(EDGES).zip(targets.chunks(EDGES)) {
        control.advance(sources.len())?;
        for (&source, &target) in sources.iter().zip(targets) {
            if source != target {
                slots[source as usize + 1] += 1;
                slots[target as usize + 1] += 1;
            }
        }
    }
    for row in 0..nodes {
        slots[row + 1] += slots[row];
    }
    Ok(slots)
}

/// Writes both directions of every edge into the slots of its row (a counting sort by row).
pub(super) fn scatter<T>(
    slots: &[u64],
    (sources, targets): (&[u32], &[u32]),
    ranks: &[u32],
    entries: &mut [T],
    entry: impl Fn(u32, usize) -> T,
    control: &Control,
) -> Result<(), Error> {
    let mut next = slots[..slots.len() - 1].to_vec();
    let mut put = |row: u32, other: u32, edge: usize| {
        let slot = &mut next[row as usize];
        entries[*slot as usize] = entry(ranks[other as usize], edge);
        *slot += 1;
    };
    let parts = sources.chunks(EDGES).zip(targets.chunks(EDGES));
    for (part, (sources, targets)) in parts.enumerate() {
        control.advance(sources.len())?;
        for (edge, (&source, &target)) in (part * EDGES..).zip(sources.iter().zip(targets)) {
            if source != target {
                put(source, target, edge);
                put(target, source, edge);
            }
        }
    }
    Ok(())
}

/// Sorts the entries of each row, keeps the first entry of each rank, and closes the gaps. Returns the new offsets.
pub(super) fn sort_rows<T: Copy + Send>(
    mut slots: Vec<u64>,
    entries: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
    rank: impl Fn(&T) -> u32,
    control: &Control,
) -> Result<Vec<u64>, Error> {
    let mut rest = entries.as_mut_slice();
    let mut rows = Vec::with_capacity(slots.len());
    for pair in slots.windows(2) {
        let (row, tail) = rest.split_at_mut((pair[1] - pair[0]) as usize);
        rows.push(row);
        rest = tail;
    }
    rows.into_par_iter().with_min_len(64).try_for_each(|row| {
        row.sort_unstable_by(&compare);
        control.check()
    })?;
    let mut kept = 0;
    let mut start = 0;
    for slot in &mut slots[1..] {
        let first = kept;
        for position in start..*slot as usize {
            if kept == first || rank(&entries[kept - 1]) != rank(&entries[position]) {
                entries[kept] = entries[position];
                kept += 1;
            }
        }
        start = *slot as usize;
        *slot = kept as u64;
    }
    entries.truncate(kept);
    entries.shrink_to_fit();
    Ok(slots)
}
