//! How a caller watches and stops a running kernel.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Error;

/// Shared between a kernel and whoever started it: a stop flag and a progress count.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Control {
    /// A control nobody has touched yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The kernel announces how many items it will work through.
    pub fn expect(&self, total: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// The kernel has finished `items` more.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once the caller wants the kernel to stop.
    #[inline]
    pub fn advance(&self, items: usize) -> Result<(), Error> {
        self.done.fetch_add(items, Ordering::Relaxed);
        self.check()
    }

    /// As [`Control::advance`], for places that finish no item.
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    /// The caller asks the kernel to stop at its next [`Control::advance`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Items done and expected.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_cancels() {
        let control = Control::new();
        control.expect(5);
        assert_eq!(control.advance(2), Ok(()));
        assert_eq!(control.progress(), (2, 5));
        control.cancel();
        assert_eq!(control.advance(1), Err(Error::Cancelled));
    }
}
