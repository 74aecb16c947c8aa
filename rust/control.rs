//! How a caller watches and stops a running kernel.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Error;

/// A stop flag and a progress count. A kernel and its caller share it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Control {
    /// A control with no progress and no request to stop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Announces how many items the kernel will work through.
    pub fn expect(&self, total: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Records that the kernel has finished `items` more.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once the caller wants the kernel to stop.
    #[inline]
    pub fn advance(&self, items: usize) -> Result<(), Error> {
        self.done.fetch_add(items, Ordering::Relaxed);
        self.check()
    }

    /// Looks only whether to stop, and counts nothing. See [`Control::advance`].
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    /// Asks the kernel to stop at its next [`Control::advance`] or [`Control::check`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The number of items done, and the number expected.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// Progress of work whose items each take a number of passes that is not known beforehand.
#[derive(Debug)]
pub struct Pace<'a> {
    control: &'a Control,
    /// The number of passes that each item counts as.
    usual: usize,
    /// How many passes of the current item were counted so far.
    counted: usize,
}

impl<'a> Pace<'a> {
    /// Announces `items` items of about `usual` passes each.
    pub fn new(control: &'a Control, items: usize, usual: usize) -> Self {
        control.expect(items * usual);
        Self { control, usual, counted: 0 }
    }

    /// Records that the kernel has finished a pass.
    ///
    /// # Errors
    /// [`Error::Cancelled`], as for [`Control::advance`].
    pub fn pass(&mut self) -> Result<(), Error> {
        let more = usize::from(self.counted < self.usual);
        self.counted += more;
        self.control.advance(more)
    }

    /// Records that the kernel has finished an item.
    ///
    /// # Errors
    /// [`Error::Cancelled`], as for [`Control::advance`].
    pub fn item(&mut self) -> Result<(), Error> {
        self.control.advance(self.usual - std::mem::take(&mut self.counted))
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
