//! Fetching memory before it is needed.
//!
//! Kernels read rows at places that the hardware cannot predict, but the graph tells them well in advance. Prefetching
//! makes a convex sweep 1.7 times as fast (100,000 nodes, 910,000 edges, d = 384). There is no safe function for it,
//! hence the `unsafe` block.

/// How many nodes ahead a node's neighbors are prefetched. Memory has time to answer by then.
pub const AHEAD: usize = 4;
/// How many of a hub's neighbors are prefetched at most. More would push each other out of the cache.
pub const MOST: usize = 64;
/// How many bytes of rows ahead a row of a long list is prefetched.
const BYTES: usize = 6 << 10;
/// The bytes of a cache line.
const LINE: usize = 64;

/// Prefetch hints, as x86-64 numbers them: into all caches, and into all but the smallest.
const ALL: i32 = 3;
const ALL_BUT_FIRST: i32 = 2;

#[inline(always)]
fn prefetch_with<const HINT: i32, T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::_mm_prefetch;
        // SAFETY: a prefetch has no effect that the program can see, and cannot fault. The address is that of a
        // reference.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<HINT>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// How many places ahead a row of `dim` floats in a long list is prefetched.
#[inline(always)]
pub fn rows_ahead(dim: usize) -> usize {
    BYTES / size_of::<f32>() / dim.max(1)
}

/// Prefetches the cache line in which a value begins. It does nothing on processors other than x86-64.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_with::<ALL, T>(value);
}

#[inline(always)]
fn prefetch_row_with<const HINT: i32, T>(row: &[T]) {
    for line in row.chunks((LINE / size_of::<T>()).max(1)) {
        prefetch_with::<HINT, T>(&line[0]);
    }
}

/// Prefetches all cache lines of a row, but not into the first-level cache: for rows that are too many for it.
#[inline(always)]
pub fn prefetch_far<T>(row: &[T]) {
    prefetch_row_with::<ALL_BUT_FIRST, T>(row);
}

/// Prefetches all cache lines of some floats.
#[inline(always)]
pub fn prefetch_all(values: &[f32]) {
    prefetch_row_with::<ALL, f32>(values);
}
