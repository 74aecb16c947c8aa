//! The constructor of the graph against lists kept in maps.

use std::collections::BTreeMap;

use arbitrary::Unstructured;
use gme::error::Error;
use gme::graph::Graph;

use crate::draw::{IDS, below, choose, number, once_in, parts};

/// Builds a graph of anything; what is wrong must be refused for that reason, what is right must keep its invariants.
pub fn check(data: &[u8]) {
    let bytes = &mut Unstructured::new(data);
    let mut parts = parts(bytes);
    let nodes = parts.ids.len();
    if once_in(bytes, 6) && nodes > 0 {
        let row = below(bytes, nodes);
        parts.ids[row] = choose(bytes, IDS).to_owned();
    }
    if once_in(bytes, 6) && !parts.targets.is_empty() {
        let edge = below(bytes, parts.targets.len());
        parts.targets[edge] = choose(bytes, &[nodes as u32, u32::MAX, 0]);
    }
    if once_in(bytes, 6)
        && let Some(weights) = &mut parts.weights
        && !weights.is_empty()
    {
        let edge = below(bytes, weights.len());
        weights[edge] = number(bytes, &[1.0, 2.0]);
    }
    if once_in(bytes, 10) {
        parts.sources.push(0);
    }
    let built = Graph::new(&parts.ids, &parts.sources, &parts.targets, parts.weights.as_deref());
    let repeated = {
        let mut ids: Vec<&String> = parts.ids.iter().collect();
        ids.sort();
        ids.windows(2).any(|pair| pair[0] == pair[1])
    };
    let uneven = parts.sources.len() != parts.targets.len();
    let beyond = parts.sources.iter().chain(&parts.targets).any(|&row| row as usize >= nodes);
    let usable = |weight: &f64| *weight as f32 > 0.0 && (*weight as f32).is_finite();
    let unusable = parts.weights.as_ref().is_some_and(|weights| !weights.iter().all(usable));
    match built {
        Ok(graph) => {
            assert!(!repeated && !uneven && !beyond && !unusable, "accepted {parts:?}");
            invariants(&graph, &parts.ids, &parts.sources, &parts.targets, parts.weights.as_deref());
        }
        Err(Error::Length { .. }) => assert!(uneven),
        Err(Error::OutOfRange { .. }) => assert!(beyond),
        Err(Error::Weight { .. }) => assert!(unusable),
        Err(Error::DuplicateId { rows, .. }) => assert!(rows.0 != rows.1 && parts.ids[rows.0] == parts.ids[rows.1]),
        Err(error) => panic!("{error}"),
    }
}

fn invariants(graph: &Graph, ids: &[String], sources: &[u32], targets: &[u32], weights: Option<&[f64]>) {
    let mut lists = vec![BTreeMap::<&str, (u32, f32)>::new(); ids.len()];
    for (edge, (&source, &target)) in sources.iter().zip(targets).enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[edge] as f32);
        for (from, to) in [(source, target), (target, source)] {
            if from != to {
                let entry = lists[from as usize].entry(&ids[to as usize]).or_insert((to, weight));
                entry.1 = entry.1.max(weight);
            }
        }
    }
    assert_eq!(graph.nodes(), ids.len());
    assert_eq!(graph.edges(), lists.iter().map(BTreeMap::len).sum::<usize>() / 2);
    assert_eq!(graph.offsets().len(), ids.len() + 1);
    assert_eq!(graph.weighted(), lists.iter().any(|list| list.values().any(|entry| entry.1 != 1.0)));
    for (row, list) in lists.iter().enumerate() {
        // A map's order of keys is that of their bytes, which is that of code points.
        assert_eq!(graph.neighbors(row), list.values().map(|entry| entry.0).collect::<Vec<_>>());
        assert_eq!(graph.degree(row), list.len());
        if graph.weighted() {
            assert_eq!(graph.weights(row), list.values().map(|entry| entry.1).collect::<Vec<_>>());
        }
    }
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    order.sort_by_key(|&row| &ids[row as usize]);
    assert_eq!(graph.order(), order);
    assert!(order.iter().enumerate().all(|(rank, &row)| graph.ranks()[row as usize] as usize == rank));
}
