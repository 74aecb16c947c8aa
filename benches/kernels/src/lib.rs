//! What the benchmarks of kernels work on: a planted-partition graph with a vector for each node.

use gme::graph::Graph;
use gme::random::{Stream, below, key, normal, unit};

/// Numbers in each vector.
pub const DIM: usize = 384;
/// Nodes in each group.
pub const GROUP: usize = 100;

/// A graph and a vector for each of its nodes.
pub struct Data {
    /// The graph.
    pub graph: Graph,
    /// The vectors, row by row.
    pub x: Vec<f32>,
}

/// Ten edges per node, eight of them within groups of a hundred nodes.
pub fn data() -> Data {
    let nodes = std::env::var("GME_BENCH_NODES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000usize);
    let ids: Vec<String> = (0..nodes).map(|row| format!("node:{row:07}")).collect();
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for edge in 0..nodes as u64 * 10 {
        let stream = Stream::new(7, edge, 0);
        let source = below(stream.draw(0), nodes as u64);
        let (start, size) = if unit(stream.draw(1)) < 0.8 {
            let start = source / GROUP as u64 * GROUP as u64;
            (start, (nodes as u64 - start).min(GROUP as u64))
        } else {
            (0, nodes as u64)
        };
        sources.push(source as u32);
        targets.push((start + below(stream.draw(2), size)) as u32);
    }
    let graph = Graph::new(&ids, &sources, &targets, None).expect("a valid graph");
    let value = |i: usize| normal(Stream::new(1, key("x"), 0).draw(i as u64)) as f32 / (DIM as f32).sqrt();
    Data { graph, x: (0..nodes * DIM).map(value).collect() }
}
