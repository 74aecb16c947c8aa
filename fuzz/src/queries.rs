//! What answers queries: exact search, spreading activation and personalized PageRank, on random graphs and vectors.

use arbitrary::Unstructured;
use gme::control::Control;
use gme::error::Error;
use gme::graph::Graph;
use gme::linalg::vectors::{Matrix, row_norms};
use gme::retrieval::pagerank::{Pagerank, pagerank};
use gme::retrieval::search::{Found, Lists, NO_ROW, Request, VectorSet};
use gme::retrieval::spread::{Activation, Starts, spread};

use crate::draw::{below, choose, matrix, number, once_in, parts};

/// One search with usual parameters and odd ones; results are ordered, allowed, distinct and finite.
pub fn check(data: &[u8]) {
    let bytes = &mut Unstructured::new(data);
    let parts = parts(bytes);
    let Ok(graph) = Graph::new(&parts.ids, &parts.sources, &parts.targets, parts.weights.as_deref()) else {
        panic!("a graph is refused")
    };
    let nodes = graph.nodes();
    let (dim, count, k) = (choose(bytes, &[1, 2, 16, 17]), below(bytes, 4), below(bytes, 50));
    let (data, asked) = (matrix(bytes, nodes, dim), matrix(bytes, count, dim));
    let Ok(x) = Matrix::new("x", &data, nodes, dim) else { panic!("a matrix is refused") };
    let Ok(queries) = Matrix::new("queries", &asked, count, dim) else { panic!("a matrix is refused") };
    let Ok(norms) = row_norms("x", x, &Control::new()) else { return };
    let possible = row_norms("queries", queries, &Control::new()).is_ok();
    let Ok(vectors) = VectorSet::new(x, &norms, graph.ranks()) else { panic!("norms are refused") };
    let mask: Option<Vec<bool>> = once_in(bytes, 3).then(|| (0..nodes).map(|_| once_in(bytes, 2)).collect());
    let allowed = mask.as_deref();
    let control = Control::new();
    let excluded: Vec<Vec<u32>> =
        (0..count).map(|_| (0..below(bytes, 4).min(nodes)).map(|_| below(bytes, nodes) as u32).collect()).collect();
    let (legal, found) = match below(bytes, 3) {
        0 => {
            let rows = excluded.concat();
            let mut offsets = vec![0];
            offsets.extend(excluded.iter().scan(0, |sum, rows| {
                *sum += rows.len() as u64;
                Some(*sum)
            }));
            let Ok(lists) = Lists::new(&offsets, &rows, count) else { panic!("lists are refused") };
            let request = Request { queries, k, excluded: Some(lists), allowed };
            let found = vectors.top(&request, &control);
            if let Ok(found) = &found {
                for (query, excluded) in excluded.iter().enumerate() {
                    let got = &found.rows[query * k..(query + 1) * k];
                    assert!(got.iter().all(|row| !excluded.contains(row)), "an excluded row was found");
                    let free = (0..nodes).filter(|row| allowed.is_none_or(|allowed| allowed[*row]));
                    let eligible = free.filter(|row| !excluded.contains(&(*row as u32))).count();
                    assert_eq!(got.iter().filter(|row| **row != NO_ROW).count(), eligible.min(k));
                }
            }
            (true, found)
        }
        kind => {
            let per_query = below(bytes, 4);
            let row = |bytes: &mut Unstructured<'_>| match nodes {
                0 => NO_ROW,
                _ => choose(bytes, &[NO_ROW, (nodes - 1) as u32, 0, (nodes / 2) as u32]),
            };
            let rows: Vec<u32> = (0..count * per_query).map(|_| row(bytes)).collect();
            let strength = [1.0f32, 0.5, 0.0, -1.0, 1e-30, f32::MAX];
            let strengths: Vec<f32> = rows.iter().map(|_| choose(bytes, &strength)).collect();
            let Ok(starts) = Starts::new(&graph, &rows, &strengths, count, per_query) else {
                panic!("starts are refused")
            };
            if kind == 1 {
                let (hops, gated) = (choose(bytes, &[0, 1, 2, 5, 60, usize::MAX]), once_in(bytes, 2));
                let options = Activation { decay: number(bytes, &[0.5, 1.0, 1e-3]), hops, gated };
                let legal = options.decay > 0.0 && options.decay <= 1.0;
                (legal, spread(&graph, &vectors, queries, starts, k, allowed, &options, &control))
            } else {
                let (restart, weighted) =
                    (choose(bytes, &[0.5, 0.1, 1.0, 0.02, 0.0, 1e-9, 1.5, f64::NAN]), once_in(bytes, 2));
                let options = Pagerank { restart, tolerance: number(bytes, &[1e-6, 1e-3]), weighted };
                let legal = (1e-6..=1.0).contains(&restart) && options.tolerance > 0.0 && options.tolerance < 1.0;
                (legal, pagerank(&graph, &vectors, queries, starts, k, allowed, &options, &control))
            }
        }
    };
    match found {
        Ok(found) => {
            assert!(legal, "parameters out of range were taken");
            assert_eq!((found.rows.len(), found.scores.len()), (count * k, count * k));
            (0..count).for_each(|query| ordered(&found, query * k..(query + 1) * k, allowed));
        }
        Err(Error::Parameter { .. }) => assert!(!legal),
        Err(Error::NotFinite { .. }) => assert!(!possible),
        Err(error) => panic!("{error}"),
    }
}

fn ordered(found: &Found, range: std::ops::Range<usize>, allowed: Option<&[bool]>) {
    let (rows, scores) = (&found.rows[range.clone()], &found.scores[range]);
    let count = rows.iter().position(|&row| row == NO_ROW).unwrap_or(rows.len());
    assert!(rows[count..].iter().all(|&row| row == NO_ROW));
    assert!(scores[count..].iter().all(|&score| score == f32::NEG_INFINITY));
    assert!(scores[..count].iter().all(|score| score.is_finite()), "{scores:?}");
    assert!(scores[..count].windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    assert!(rows[..count].iter().all(|&row| allowed.is_none_or(|allowed| allowed[row as usize])));
    let mut distinct = rows[..count].to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), count);
}
