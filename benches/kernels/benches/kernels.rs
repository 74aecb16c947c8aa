//! Every kernel on a planted-partition graph. `GME_BENCH_NODES` sets its size (default 20,000; 100,000 in the docs).
//!
//! `just bench-kernels` runs them.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gme::control::Control;
use gme::graph::local_pairs::Limits;
use gme::linalg::vectors::{Matrix, row_norms};
use gme::mentions::{Mentions, title_mentions};
use gme::random::{Stream, below};
use gme::retrieval::search::{Request, VectorSet};
use gme::transforms::diffusion::{Restart, diffuse};
use gme::transforms::exact_walks::walk_exactly;
use gme::transforms::gradient::{Gradient, gradient};
use gme::transforms::neighbors::{Hop, hop};
use gme::transforms::signature::{Sketch, signature};
use gme::transforms::smoothing::{Convex, Solver, convex, group_means, shared};
use gme::transforms::walks::{Walks, endpoints, walk};
use gme_benches::{DIM, GROUP, data};

fn transformations(bench: &mut Criterion) {
    let data = data();
    let (graph, control) = (&data.graph, Control::new());
    let x = Matrix::new("x", &data.x, graph.nodes(), DIM).expect("a valid matrix");
    let mut out = vec![0.0; data.x.len()];
    let mut group = bench.benchmark_group("transform");
    group.sample_size(10);
    let first = Hop { hops: 1, share: (1, 5), alpha: 0.2, least: true, min_neighbors: 2, max_hub_degree: 0 };
    for (name, options) in [
        ("hop1 share 0.2", first),
        ("hop1 share 1", Hop { share: (1, 1), ..first }),
        ("hop2 share 0.2", Hop { hops: 2, ..first }),
    ] {
        group.bench_function(name, |b| b.iter(|| hop(graph, x, black_box(&options), &control, &mut out)));
    }
    let walks = Walks { steps: 2, walks: 100, seed: 42, returns: true };
    group.bench_function("walk", |b| b.iter(|| walk(graph, x, black_box(&walks), 0.0, &control, &mut out)));
    group.bench_function("walk, steps only", |b| b.iter(|| endpoints(graph, black_box(&walks), &control)));
    group.bench_function("walk exact", |b| b.iter(|| walk_exactly(graph, x, 2, 0.0, true, &control, &mut out)));
    let one =
        Convex { anchor_weight: 1.0, edge_weight: 1.0, tolerance: 1e-6, max_sweeps: 1, solver: Solver::GaussSeidel };
    group.bench_function("convex, one sweep", |b| b.iter(|| convex(graph, x, black_box(&one), &control, &mut out)));
    let eleven = Convex { max_sweeps: 11, ..one };
    group.bench_function("convex, eleven sweeps", |b| {
        b.iter(|| convex(graph, x, black_box(&eleven), &control, &mut out))
    });
    let ten = Convex { max_sweeps: 10, solver: Solver::ConjugateGradient, ..one };
    group.bench_function("convex, ten passes of conjugate gradients", |b| {
        b.iter(|| convex(graph, x, black_box(&ten), &control, &mut out))
    });
    group.bench_function("shared, ten passes of conjugate gradients", |b| {
        b.iter(|| shared(graph, x, black_box(&ten), (0.1, 0), &control, &mut out))
    });
    let descent = Gradient {
        targets: [0.8, 0.5, 0.5, 0.5],
        step: 0.5,
        max_shift: 1.0,
        steps: 3,
        limits: Limits { fan_out: 32, pairs: 64, seed: 42 },
    };
    group.bench_function("gradient, three steps", |b| {
        b.iter(|| gradient(graph, x, black_box(&descent), &control, &mut out))
    });
    let restart = Restart { restart: 0.1, tolerance: 1e-6, max_iterations: 500, weighted: false };
    group.bench_function("ppr", |b| b.iter(|| diffuse(graph, x, black_box(&restart), &control, &mut out)));
    let once = Restart { max_iterations: 1, ..restart };
    group.bench_function("ppr, one step", |b| b.iter(|| diffuse(graph, x, black_box(&once), &control, &mut out)));
    let mut signatures = vec![0.0; graph.nodes() * 512];
    let sketch = Sketch { dim: 512, seed: 42, damping: 0.0 };
    group.bench_function("signature 512", |b| {
        b.iter(|| signature(graph, &sketch, black_box(&restart), &control, &mut signatures))
    });
    let labels: Vec<u32> = (0..graph.nodes()).map(|row| (row / GROUP) as u32).collect();
    group.bench_function("group means", |b| {
        b.iter(|| group_means(graph, x, black_box(&labels), 0.5, &control, &mut out))
    });
    group.finish();
}

fn searches(bench: &mut Criterion) {
    let data = data();
    let (rows, control) = (data.graph.nodes(), Control::new());
    let x = Matrix::new("x", &data.x, rows, DIM).expect("a valid matrix");
    let norms = row_norms("x", x, &control).expect("finite");
    let vectors = VectorSet::new(x, &norms, data.graph.ranks()).expect("fits");
    let mut group = bench.benchmark_group("search");
    group.sample_size(10);
    group.bench_function("norms", |b| b.iter(|| row_norms("x", black_box(x), &control)));
    for count in [1, 100] {
        let queries = Matrix::new("queries", &data.x[..count * DIM], count, DIM).expect("a valid matrix");
        let request = Request { queries, k: 40, excluded: None, allowed: None };
        group.bench_function(format!("{count} queries"), |b| b.iter(|| vectors.top(black_box(&request), &control)));
    }
    group.finish();
}

fn texts(bench: &mut Criterion) {
    let word = |i: u64| format!("w{:x}", below(Stream::new(3, i, 0).draw(0), 4096));
    let titles: Vec<String> = (0..5000u64).map(|i| format!("{} {}", word(2 * i), word(2 * i + 1))).collect();
    let texts: Vec<String> =
        (0..5000u64).map(|i| (0..80).map(|j| word(100_000 + 80 * i + j)).collect::<Vec<_>>().join(" ")).collect();
    let mut group = bench.benchmark_group("text");
    group.sample_size(10);
    for ignore_case in [false, true] {
        let options = Mentions { ignore_case, min_length: 3 };
        let name = if ignore_case { "mentions, any case" } else { "mentions" };
        let control = Control::new();
        group.bench_function(name, |b| b.iter(|| title_mentions(&titles, &texts, black_box(&options), &control)));
    }
    group.finish();
}

criterion_group!(kernels, transformations, searches, texts);
criterion_main!(kernels);
