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

/// Progress of work whose items each take a number of passes that is not known beforehand.
#[derive(Debug)]
pub struct Pace<'a> {
    control: &'a Control,
    /// Passes an item counts as.
    usual: usize,
    /// Passes of the current item that were counted.
    counted: usize,
}

impl<'a> Pace<'a> {
    /// Announces `items` of about `usual` passes each.
    pub fn new(control: &'a Control, items: usize, usual: usize) -> Self {
        control.expect(items * usual);
        Self { control, usual, counted: 0 }
    }

    /// The kernel has finished a pass.
    ///
    /// # Errors
    /// [`Error::Cancelled`], as for [`Control::advance`].
    pub fn pass(&mut self) -> Result<(), Error> {
        let more = usize::from(self.counted < self.usual);
        self.counted += more;
        self.control.advance(more)
    }

    /// The kernel has finished an item.
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
