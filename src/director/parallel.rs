//! Many pieces of work at once, in a stable order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` on every item with so many threads at once and gives the results in the items'
/// order. Each thread takes the next item that nobody has; `stop` is asked before each, and items
/// not begun by then have no result.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(&T) -> R + Sync),
) -> Vec<Option<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let run = || {
        while !stop() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            results.lock().expect("no worker panics while it holds the results")[index] =
                Some(result);
        }
    };
    std::thread::scope(|scope| {
        let workers = jobs.clamp(1, items.len().max(1));
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(run)).collect();
        run();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    results.into_inner().expect("all workers have ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = in_parallel(&items, 4, &|| false, &|item| item * 2);
        assert!(doubled.into_iter().flatten().eq((0..100).map(|item| item * 2)));
    }

    #[test]
    fn what_was_not_begun_has_no_result() {
        let done = AtomicUsize::new(0);
        let stop = || done.load(Ordering::Relaxed) >= 2;
        let work = |_: &u32| done.fetch_add(1, Ordering::Relaxed);
        let results = in_parallel(&[1, 2, 3, 4, 5], 1, &stop, &work);
        assert_eq!(results.iter().flatten().count(), 2);
    }
}
