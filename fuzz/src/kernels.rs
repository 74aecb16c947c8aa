//! Every kernel that gives one vector a node, on random graphs: what it refuses, and that what it gives is finite.

use arbitrary::Unstructured;
use gme::control::Control;
use gme::error::Error;
use gme::graph::Graph;
use gme::graph::local_pairs::Limits;
use gme::linalg::vectors::{Matrix, row_norms};
use gme::transforms::diffusion::{self, Restart};
use gme::transforms::exact_walks::walk_exactly;
use gme::transforms::gradient::{Gradient, gradient};
use gme::transforms::neighbors::{Hop, hop};
use gme::transforms::signature::{Sketch, signature};
use gme::transforms::smoothing::{self, Convex, Solver};
use gme::transforms::walks::{self, Walks};

use crate::draw::{Parts, below, choose, matrix, number, once_in, parts};

/// One kernel on one graph, with usual parameters and odd ones.
pub fn check(data: &[u8]) {
    let bytes = &mut Unstructured::new(data);
    let Parts { ids, sources, targets, weights } = parts(bytes);
    let Ok(graph) = Graph::new(&ids, &sources, &targets, weights.as_deref()) else { panic!("a graph is refused") };
    let dim = choose(bytes, &[1, 2, 3, 7, 16, 17, 33, 40]);
    let data = matrix(bytes, ids.len(), dim);
    let Ok(x) = Matrix::new("x", &data, ids.len(), dim) else { panic!("a matrix is refused") };
    let measurable = row_norms("x", x, &Control::new()).is_ok();
    let finite = data.iter().all(|value| value.is_finite());
    let mut out = vec![f32::NAN; data.len()];
    let control = Control::new();
    let kind = below(bytes, 8);
    // Whether the kernel has a result, whether its parameters were in range, and whether it could have a result for x.
    let (done, legal, possible) = match kind {
        0 => {
            let options = hop_options(bytes);
            let (part, whole) = options.share;
            let legal =
                (1..=2).contains(&options.hops) && whole > 0 && part <= whole && whole < 1 << 96 && unit(options.alpha);
            let free = part == whole; // without a choice no lengths are needed
            (hop(&graph, x, &options, &control, &mut out), legal, if free { finite } else { measurable })
        }
        1 => {
            let (options, alpha) = (walk_options(bytes), number(bytes, &[0.0, 0.5, 1.0]));
            let legal = options.steps > 0 && options.walks > 0 && unit(alpha);
            (walks::walk(&graph, x, &options, alpha, &control, &mut out), legal, finite)
        }
        2 => {
            let (steps, alpha, returns) = (below(bytes, 5), number(bytes, &[0.0, 0.5, 1.0]), once_in(bytes, 2));
            let legal = steps > 0 && unit(alpha);
            (walk_exactly(&graph, x, steps, alpha, returns, &control, &mut out), legal, finite)
        }
        3 => {
            let options = convex_options(bytes);
            let solved = smoothing::convex(&graph, x, &options, &control, &mut out);
            (solved.map(|solved| assert!(solved.sweeps <= options.max_sweeps)), convex_legal(&options), finite)
        }
        4 => {
            let options = convex_options(bytes);
            let pairs = (number(bytes, &[0.0, 0.5, 3.0]), below(bytes, 5));
            let legal = convex_legal(&options) && (0.0..=1e30).contains(&pairs.0);
            (smoothing::shared(&graph, x, &options, pairs, &control, &mut out).map(drop), legal, finite)
        }
        5 => {
            let options = restart_options(bytes);
            let passes = diffusion::diffuse(&graph, x, &options, &control, &mut out);
            (passes.map(|passes| assert!(passes.iterations <= options.max_iterations)), restart_legal(&options), finite)
        }
        6 => {
            let options = restart_options(bytes);
            let seed = bytes.arbitrary().unwrap_or(0);
            let sketch = Sketch { dim, seed, damping: number(bytes, &[0.0, 0.5, 1.0]) };
            let passes = signature(&graph, &sketch, &options, &control, &mut out);
            let legal = restart_legal(&options) && (0.0..=1.0).contains(&sketch.damping);
            (passes.map(drop), legal, true)
        }
        _ => {
            let options = gradient_options(bytes);
            let legal = options.targets.iter().all(|target| (-1.0..=1.0).contains(target))
                && [options.step, options.max_shift].iter().all(|value| *value > 0.0 && *value <= 1e6)
                && options.steps > 0
                && options.limits.check().is_ok();
            let reach = 1.0 + options.max_shift as f32;
            let movable = row_norms("x", x, &Control::new())
                .is_ok_and(|norms| norms.iter().all(|norm| (norm * reach).is_finite()));
            (gradient(&graph, x, &options, &control, &mut out).map(drop), legal, movable)
        }
    };
    match done {
        Ok(()) => {
            assert!(legal, "parameters out of range were taken");
            assert!(possible, "a matrix without a result was taken");
            assert!(out.iter().all(|value| value.is_finite()), "kernel {kind} of {data:?} on {graph:?} gives {out:?}");
        }
        Err(Error::Parameter { .. }) => assert!(!legal),
        Err(Error::NotFinite { .. }) => assert!(!possible),
        Err(error) => panic!("{error}"),
    }
}

fn unit(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

fn hop_options(bytes: &mut Unstructured<'_>) -> Hop {
    Hop {
        hops: choose(bytes, &[1, 2, 1, 2, 1, 2, 0, 3]),
        share: choose(
            bytes,
            &[(1, 1), (1, 5), (0, 1), (1, 3), (2, 1), (1, 0), (1 << 96, 1 << 96), ((1 << 96) - 1, (1 << 96) - 1)],
        ),
        alpha: number(bytes, &[0.0, 0.2, 1.0]),
        least: once_in(bytes, 2),
        min_neighbors: choose(bytes, &[0, 1, 2, usize::MAX]),
        max_hub_degree: below(bytes, 5),
    }
}

fn walk_options(bytes: &mut Unstructured<'_>) -> Walks {
    let (steps, walks) = (below(bytes, 5), below(bytes, 40));
    Walks { steps, walks, seed: bytes.arbitrary().unwrap_or(0), returns: once_in(bytes, 2) }
}

fn convex_options(bytes: &mut Unstructured<'_>) -> Convex {
    Convex {
        anchor_weight: number(bytes, &[1.0, 0.1, 1e-30, 1e30]),
        edge_weight: number(bytes, &[1.0, 0.0, 10.0, 1e30]),
        tolerance: number(bytes, &[1e-6, 0.0]),
        max_sweeps: below(bytes, 30),
        solver: choose(bytes, &[Solver::GaussSeidel, Solver::ConjugateGradient]),
    }
}

fn convex_legal(options: &Convex) -> bool {
    (1e-30..=1e30).contains(&options.anchor_weight)
        && (0.0..=1e30).contains(&options.edge_weight)
        && options.tolerance >= 0.0
        && options.tolerance.is_finite()
        && options.max_sweeps > 0
}

fn restart_options(bytes: &mut Unstructured<'_>) -> Restart {
    Restart {
        restart: number(bytes, &[0.1, 0.5, 1.0, 1e-9]),
        tolerance: number(bytes, &[1e-6, 1e-3]),
        max_iterations: below(bytes, 30),
        weighted: once_in(bytes, 2),
    }
}

fn restart_legal(options: &Restart) -> bool {
    let small = options.tolerance > 0.0 && options.tolerance.is_finite();
    options.restart > 0.0 && options.restart <= 1.0 && small && options.max_iterations > 0
}

fn gradient_options(bytes: &mut Unstructured<'_>) -> Gradient {
    let usual = [0.6, 0.3, 0.0, -1.0, 1.0];
    Gradient {
        targets: [(); 4].map(|()| number(bytes, &usual)),
        step: number(bytes, &[0.5, 1e-3, 1e6]),
        max_shift: number(bytes, &[0.5, 1e-3, 1e6]),
        steps: below(bytes, 5),
        limits: Limits {
            fan_out: choose(bytes, &[1, 2, 1 << 16, 0]),
            pairs: choose(bytes, &[1, 20, 1 << 20, 0]),
            seed: bytes.arbitrary().unwrap_or(0),
        },
    }
}
