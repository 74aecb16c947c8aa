//! Pieces of inputs, drawn from the fuzzer's bytes. Where these have ended, everything is zero.

use arbitrary::Unstructured;

/// One of the choices.
pub fn choose<T: Copy>(bytes: &mut Unstructured<'_>, choices: &[T]) -> T {
    choices[below(bytes, choices.len())]
}

/// A number below `limit`, which is at least 1.
pub fn below(bytes: &mut Unstructured<'_>, limit: usize) -> usize {
    bytes.int_in_range(0..=limit - 1).unwrap_or(0)
}

/// True once in so many times.
pub fn once_in(bytes: &mut Unstructured<'_>, times: usize) -> bool {
    below(bytes, times) == times - 1
}

/// A number that is mostly one of the usual ones, and sometimes anything that 64 bits can mean.
pub fn number(bytes: &mut Unstructured<'_>, usual: &[f64]) -> f64 {
    const ODD: &[f64] = &[
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        5e-324,
        1e-300,
        1e-46,
        1e-38,
        1.0 + f64::EPSILON,
        3.4e38,
        3.5e38,
        1e300,
        f64::MAX,
    ];
    match below(bytes, 12) {
        0 => choose(bytes, ODD),
        1 => f64::from_bits(bytes.arbitrary().unwrap_or(0)),
        _ => choose(bytes, usual),
    }
}

/// Ids that are alike in what could be mistaken: prefixes, the order of UTF-8 and of UTF-16, NUL, the empty one.
pub const IDS: &[&str] = &[
    "a",
    "b",
    "",
    "aa",
    "a\0",
    "abcdefgh",
    "abcdefgha",
    "abcdefghb",
    "é",
    "\u{301}",
    "\u{ffee}",
    "\u{1f980}",
    "../x",
    "\n",
    "\u{1b}[2J",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
];

/// A small graph as it might stand in files: ids, sources, targets and weights.
#[derive(Debug, Default)]
pub struct Parts {
    /// Distinct.
    pub ids: Vec<String>,
    pub sources: Vec<u32>,
    pub targets: Vec<u32>,
    pub weights: Option<Vec<f64>>,
}

/// A graph without anything wrong: self-loops, parallel edges, isolated nodes, hubs, none at all.
pub fn parts(bytes: &mut Unstructured<'_>) -> Parts {
    let nodes = below(bytes, 40);
    let ids = (0..nodes).map(|row| format!("{}{}", IDS[row % IDS.len()], row / IDS.len())).collect();
    let mut parts = Parts { ids, ..Parts::default() };
    if nodes == 0 {
        return parts;
    }
    let hub = once_in(bytes, 3).then(|| below(bytes, nodes));
    for _ in 0..below(bytes, 120) {
        parts.sources.push(hub.filter(|_| !once_in(bytes, 4)).unwrap_or_else(|| below(bytes, nodes)) as u32);
        parts.targets.push(below(bytes, nodes) as u32);
    }
    if once_in(bytes, 2) {
        let weights = [1.0, 1.0, 0.5, 3.0, 1e-30, 1e30, 1.1754944e-38, 1e-45, 3.4e38];
        parts.weights = Some(parts.sources.iter().map(|_| choose(bytes, &weights)).collect());
    }
    parts
}

/// A matrix: mostly small numbers, whole rows of zeros, rows that repeat others, huge and tiny numbers.
pub fn matrix(bytes: &mut Unstructured<'_>, rows: usize, dim: usize) -> Vec<f32> {
    let scale = choose(bytes, &[1.0f32, 1.0, 1.0, 1e-20, 1e15, 1e-38, 1e37]);
    let mut data: Vec<f32> = Vec::with_capacity(rows * dim);
    for row in 0..rows {
        match below(bytes, 8) {
            0 => data.extend(std::iter::repeat_n(0.0, dim)),
            1 if row > 0 => data.extend_from_within((row - 1) * dim..row * dim),
            2 => data.extend((0..dim).map(|column| if column == row % dim { scale } else { 0.0 })),
            _ => {
                let mut state = u32::from(bytes.arbitrary::<u16>().unwrap_or(1)) + 1;
                data.extend((0..dim).map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    scale * ((state >> 8) as f32 / (1 << 23) as f32 - 1.0)
                }));
            }
        }
    }
    if !data.is_empty() && once_in(bytes, 12) {
        let place = below(bytes, data.len());
        data[place] = choose(bytes, &[f32::NAN, f32::INFINITY, f32::MAX, f32::from_bits(1)]);
    }
    data
}
