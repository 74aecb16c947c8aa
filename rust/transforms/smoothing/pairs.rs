//! Pairs of nodes that share a neighbor without being adjacent (GME: shared-neighbor smoothing).

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::graph::Graph;
use crate::memory::scratch::Scratch;
use crate::transforms::neighbors::check_hubs;
use crate::transforms::neighbors::two_hop_search::{ROWS, TwoHopSearch, bits};

/// The most pairs that are listed: 4 GiB of row numbers. A pair counts once for each shared neighbor and each
/// direction.
pub const MOST: u64 = 1 << 30;

/// For each node, the nodes that share a neighbor with it. Those of row i are entries `offsets[i]..offsets[i + 1]` of
/// `others`, sorted by rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// Where each row's entries start.
    pub offsets: Vec<u64>,
    /// The other nodes, each pair in both directions.
    pub others: Vec<u32>,
}

/// Lists the pairs. Nodes with more than `max_hub_degree` neighbors (0: no limit) do not count as shared neighbors.
///
/// # Errors
/// [`Error::Hub`] with the largest hub, if there may be more pairs than [`MOST`]; cancellation.
pub fn pairs(graph: &Graph, max_hub_degree: usize, control: &Control) -> Result<Pairs, Error> {
    check_hubs("shared", graph, max_hub_degree, MOST)?;
    control.expect(graph.nodes());
    let scratch = Scratch::new(|| TwoHopSearch::new(graph.nodes()));
    let parts: Vec<(Vec<u64>, Vec<u32>)> = (0..graph.nodes().div_ceil(ROWS))
        .into_par_iter()
        .map(|chunk| {
            let rows = chunk * ROWS..((chunk + 1) * ROWS).min(graph.nodes());
            control.advance(rows.len())?;
            scratch.lend(|search| {
                let mut lists = vec![Vec::new(); rows.len()];
                let found = search.find(graph, rows, max_hub_degree, control)?;
                found.sort_unstable_by_key(|found| graph.ranks()[found.0 as usize]);
                for &mut (other, mask) in found {
                    bits(mask).for_each(|bit| lists[bit].push(other));
                }
                Ok((lists.iter().map(|list| list.len() as u64).collect(), lists.concat()))
            })
        })
        .collect::<Result<_, Error>>()?;
    let mut all = Pairs { offsets: vec![0], others: Vec::new() };
    all.others.reserve_exact(parts.iter().map(|part| part.1.len()).sum());
    for (lengths, others) in parts {
        for length in lengths {
            all.offsets.push(all.offsets[all.offsets.len() - 1] + length);
        }
        all.others.extend(others);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_share_a_neighbor_and_are_not_adjacent() {
        // a-b-c-d and a-c: only d shares c with a and b.
        let graph = Graph::new(&["a", "b", "c", "d"], &[0, 1, 2, 0], &[1, 2, 3, 2], None).unwrap();
        let found = pairs(&graph, 0, &Control::new()).unwrap();
        assert_eq!(found, Pairs { offsets: vec![0, 1, 2, 2, 4], others: vec![3, 3, 0, 1] });
        assert!(pairs(&graph, 2, &Control::new()).unwrap().others.is_empty());
    }

    #[test]
    fn a_hub_beyond_the_budget_is_named() {
        let count = 1 << 16;
        let ids: Vec<String> = (0..count).map(|row| format!("{row}")).collect();
        let graph = Graph::new(&ids, &vec![7; count], &(0..count as u32).collect::<Vec<_>>(), None).unwrap();
        let error = pairs(&graph, 0, &Control::new()).unwrap_err();
        assert!(matches!(error, Error::Hub { row: 7, degree: 65_535, .. }));
        assert!(pairs(&graph, 1000, &Control::new()).is_ok());
    }
}
