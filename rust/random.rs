//! Counter-based random draws: each a pure function of (seed, node key, walk, step).
//!
//! Our own generator, so that no dependency upgrade changes a result: SplitMix64 (Steele, Lea and Flood 2014), whose
//! n-th output is a bijective mix of `start + n * GAMMA` and therefore needs no state.

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves every output bit.
#[inline(always)]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A stable 64-bit hash of a node id: FNV-1a over its UTF-8 bytes, finished by [`mix`].
pub fn key(id: &str) -> u64 {
    let hash = id
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    mix(hash)
}

/// The draws of one walk of one node; draw `n` is the same whenever it is asked for.
///
/// ```
/// use gme::random::{Stream, key};
/// let stream = Stream::new(42, key("chunk:1"), 7);
/// assert_eq!(stream.draw(3), Stream::new(42, key("chunk:1"), 7).draw(3));
/// assert_ne!(stream.draw(3), stream.draw(4));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `walk` from the node with `key`.
    #[inline(always)]
    pub const fn new(seed: u64, key: u64, walk: u64) -> Self {
        let node = mix(key ^ mix(seed.wrapping_add(GAMMA)));
        Self(mix(node.wrapping_add(walk.wrapping_add(1).wrapping_mul(GAMMA))))
    }

    /// Draw number `step`: 64 uniform bits.
    #[inline(always)]
    pub const fn draw(self, step: u64) -> u64 {
        mix(self.0.wrapping_add(step.wrapping_add(1).wrapping_mul(GAMMA)))
    }
}

/// A draw turned into an integer in `0..bound` by Lemire's multiply-high; the bias is below bound / 2^64.
#[inline(always)]
pub const fn below(draw: u64, bound: u64) -> u64 {
    ((draw as u128 * bound as u128) >> 64) as u64
}

/// A draw turned into a number in [0, 1) with 53 random bits.
#[inline(always)]
pub fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Two draws turned into a standard normal number (Box–Muller).
#[inline]
pub fn normal(first: u64, second: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(first)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(second)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_never_change() {
        // SplitMix64 seeded with 0 starts with this published value.
        assert_eq!(mix(GAMMA), 0xE220_A839_7B1D_CDAF);
        assert_eq!(key(""), mix(0xCBF2_9CE4_8422_2325));
    }

    #[test]
    fn bounded_draws_are_uniform() {
        let mut counts = [0u32; 7];
        for walk in 0..10_000 {
            for step in 0..7 {
                counts[below(Stream::new(1, key("a"), walk).draw(step), 7) as usize] += 1;
            }
        }
        // Chi-square with 6 degrees of freedom: the 0.999 quantile is 22.5.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 22.5, "{counts:?}");
    }

    #[test]
    fn normals_have_unit_variance() {
        let stream = Stream::new(3, key("b"), 0);
        let values: Vec<f64> = (0..20_000).map(|i| normal(stream.draw(2 * i), stream.draw(2 * i + 1))).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let square = values.iter().map(|v| v * v).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05, "{mean} {square}");
    }
}
