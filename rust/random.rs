//! Counter-based random draws. Each draw is a pure function of (seed, node key, walk, step).
//!
//! The generator is SplitMix64 (Steele, Lea and Flood 2014). Its n-th output is a bijective mix of `start + n * GAMMA`,
//! so it needs no state. It is implemented here, so that no upgrade of a dependency changes a result.

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's finalizer: a bijection of 64 bits in which every input bit moves every output bit.
#[inline(always)]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A stable 64-bit hash of a node id: FNV-1a over its UTF-8 bytes, followed by [`mix`].
pub fn key(id: &str) -> u64 {
    let hash = id
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    mix(hash)
}

/// The draws of one walk of one node. Draw `n` has the same value every time.
///
/// ```
/// use gme::random::{Stream, key};
/// let stream = Stream::new(42, key("chunk:1"), 7);
/// assert_eq!(stream.draw(3), Stream::new(42, key("chunk:1"), 7).draw(3));
/// assert_ne!(stream.draw(3), stream.draw(4));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `walk` from the node with `key`.
    #[inline(always)]
    pub const fn new(seed: u64, key: u64, walk: u64) -> Self {
        Source::new(seed, key).stream(walk)
    }

    /// Draw number `step`: 64 uniform bits.
    #[inline(always)]
    pub const fn draw(self, step: u64) -> u64 {
        mix(self.0.wrapping_add(step.wrapping_add(1).wrapping_mul(GAMMA)))
    }
}

/// All streams of one node.
#[derive(Debug, Clone, Copy)]
pub struct Source(u64);

impl Source {
    /// The streams of the node with `key`.
    #[inline(always)]
    pub const fn new(seed: u64, key: u64) -> Self {
        Self(mix(key ^ mix(seed.wrapping_add(GAMMA))))
    }

    /// What [`Stream::new`] gives for this node.
    #[inline(always)]
    pub const fn stream(self, walk: u64) -> Stream {
        Stream(mix(self.0.wrapping_add(walk.wrapping_add(1).wrapping_mul(GAMMA))))
    }
}

/// Turns a draw into an integer in `0..bound` by Lemire's multiply-high. The bias is below bound / 2^64.
#[inline(always)]
pub const fn below(draw: u64, bound: u64) -> u64 {
    ((draw as u128 * bound as u128) >> 64) as u64
}

/// [`below`] for bounds of 32 bits. It gives the same numbers by products of 32 bits, of which a register holds
/// several.
#[inline(always)]
pub const fn below_32(draw: u64, bound: u32) -> u32 {
    let (high, low, bound) = (draw >> 32, draw & 0xFFFF_FFFF, bound as u64);
    ((high * bound + ((low * bound) >> 32)) >> 32) as u32
}

/// Turns a draw into a number in [0, 1) with 53 random bits.
#[inline(always)]
pub fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Turns a draw into a standard normal number by Acklam's approximation of the inverse distribution function.
///
/// Its relative error is 1.2e-9. It uses only arithmetic and square roots, which IEEE 754 defines to the last bit. So
/// it gives the same numbers on every machine. A library's logarithm or cosine would not.
#[inline]
pub fn normal(draw: u64) -> f64 {
    // The middle of one of 2^52 equal parts of 0..1. It is never 0 or 1, and the values are symmetric about a half.
    let p = ((draw >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64);
    if p < TAIL {
        lower_tail(p)
    } else if p > 1.0 - TAIL {
        -lower_tail(1.0 - p)
    } else {
        let q = p - 0.5;
        q * polynomial(&CENTER.0, q * q) / polynomial(&CENTER.1, q * q)
    }
}

const TAIL: f64 = 0.02425;

/// Acklam's coefficients, highest power first.
const CENTER: ([f64; 6], [f64; 6]) = (
    [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ],
    [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1.0],
);

/// Acklam's coefficients for the tails.
const OUTER: ([f64; 6], [f64; 5]) = (
    [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ],
    [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0],
);

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

fn lower_tail(p: f64) -> f64 {
    let q = (-2.0 * logarithm(p)).sqrt();
    polynomial(&OUTER.0, q) / polynomial(&OUTER.1, q)
}

/// ln p for normal positive numbers: the part of the exponent, plus the series of 2 artanh((m - 1) / (m + 1)) for the
/// mantissa m.
pub(crate) fn logarithm(p: f64) -> f64 {
    let bits = p.to_bits();
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    // The mantissa is brought between 1/√2 and √2, where the series is short.
    let (mantissa, up) = if mantissa > std::f64::consts::SQRT_2 { (mantissa / 2.0, 1) } else { (mantissa, 0) };
    let exponent = ((bits >> 52) as i64 - 1023 + up) as f64;
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..10).rev().fold(0.0, |sum, term| sum * (s * s) + 2.0 / f64::from(2 * term + 1));
    exponent * std::f64::consts::LN_2 + s * series
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
    fn bounds_of_32_bits_give_the_same_draws() {
        let stream = Stream::new(2, key("b"), 0);
        let edges = [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX];
        for draw in edges.into_iter().chain((0..1000).map(|i| stream.draw(i))) {
            for bound in [0, 1, 2, 19, 1 << 31, u32::MAX, mix(draw) as u32] {
                assert_eq!(u64::from(below_32(draw, bound)), below(draw, u64::from(bound)), "{draw} {bound}");
            }
        }
    }

    #[test]
    fn logarithms_are_right() {
        for p in [1e-17, 3e-9, 0.01, 0.5, 0.706, 0.708, 1.0, 1.9] {
            assert!((logarithm(p) - p.ln()).abs() < 1e-13 * (1.0 + p.ln().abs()), "{p}");
        }
    }

    #[test]
    fn normals_are_normal() {
        // The quantiles of 0.975 and 0.99865 (three sigma), and symmetry.
        let draw = |p: f64| normal((p * 2f64.powi(64)) as u64);
        assert!((draw(0.975) - 1.959963985).abs() < 1e-8);
        assert!((draw(0.99865010196837) - 3.0).abs() < 1e-7);
        assert_eq!(normal(5 << 12), -normal(!(5 << 12)));
        let stream = Stream::new(3, key("b"), 0);
        let values: Vec<f64> = (0..20_000).map(|i| normal(stream.draw(i))).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let square = values.iter().map(|v| v * v).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05, "{mean} {square}");
    }
}
