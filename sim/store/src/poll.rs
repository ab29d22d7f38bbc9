//! Futures polled by hand: no runtime, and the caller decides who goes next.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Polls once, waking nobody.
pub fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls until the future is ready, at most so many times. `None`: it was not.
pub fn run<F: Future>(future: F, most: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..most {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return Some(output);
        }
    }
    None
}
