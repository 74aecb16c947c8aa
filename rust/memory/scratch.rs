//! Buffers that tasks reuse. There are never more of them than threads.

use std::sync::{Mutex, PoisonError};

/// A stack of idle buffers.
pub struct Scratch<T, F: Fn() -> T> {
    idle: Mutex<Vec<T>>,
    make: F,
}

impl<T, F: Fn() -> T> Scratch<T, F> {
    /// `make` is called when a task finds no idle buffer.
    pub fn new(make: F) -> Self {
        Self { idle: Mutex::new(Vec::new()), make }
    }

    /// Lends a buffer to `task`, in the state in which the last task left it.
    pub fn lend<R>(&self, task: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = idle.unwrap_or_else(&self.make);
        let result = task(&mut buffer);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_handed_on() {
        let scratch = Scratch::new(|| 0);
        scratch.lend(|count| *count += 1);
        scratch.lend(|count| assert_eq!(*count, 1));
    }
}
