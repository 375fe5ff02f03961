//! Many things made by all threads, and taken one by one in their order: the taking goes on beside the making, and no
//! thread waits for it as long as there is something to make.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};

/// How many made things may wait to be taken, per thread: each may be large.
const WAITING_PER_THREAD: usize = 2;

/// Makes the things with the numbers up to `count`, and takes each as soon as it is its turn. `make` must not start work
/// on all threads itself.
pub fn make_in_order<T: Send>(
    count: usize,
    make: impl Fn(usize) -> T + Sync,
    take: impl FnMut(usize, T) + Send,
) {
    let threads = rayon::current_num_threads();
    let line = Line {
        most_waiting: threads * WAITING_PER_THREAD,
        progress: Mutex::new(Progress { count, begun: 0, taken: 0, made: BTreeMap::new(), take: Some(take) }),
        was_taken: Condvar::new(),
    };
    rayon::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|_| {
                let _end = EndOnPanic(&line);
                while let Some(number) = line.next_to_make() {
                    line.hand_over(number, make(number));
                }
            });
        }
    });
}

struct Line<T, F> {
    most_waiting: usize,
    progress: Mutex<Progress<T, F>>,
    was_taken: Condvar,
}

struct Progress<T, F> {
    count: usize,
    /// How many some thread has begun to make.
    begun: usize,
    taken: usize,
    made: BTreeMap<usize, T>,
    /// `None` while some thread is taking.
    take: Option<F>,
}

impl<T, F: FnMut(usize, T)> Line<T, F> {
    fn progress(&self) -> MutexGuard<'_, Progress<T, F>> {
        self.progress.lock().expect("nobody panics with the line in hand")
    }

    /// `None` if all are made or being made.
    fn next_to_make(&self) -> Option<usize> {
        let progress = self.progress();
        // Whoever makes the one whose turn it is does not wait here: all before it are taken.
        let is_ahead = |progress: &mut Progress<T, F>| {
            progress.begun < progress.count && progress.begun - progress.taken > self.most_waiting
        };
        let waited = self.was_taken.wait_while(progress, is_ahead);
        let mut progress = waited.expect("nobody panics with the line in hand");
        (progress.begun < progress.count).then(|| {
            progress.begun += 1;
            progress.begun - 1
        })
    }

    /// Puts a thing into the line, and takes from its head what is there, unless some other thread does.
    fn hand_over(&self, number: usize, made: T) {
        let mut progress = self.progress();
        progress.made.insert(number, made);
        let Some(mut take) = progress.take.take() else { return };
        loop {
            let turn = progress.taken;
            let Some(head) = progress.made.remove(&turn) else { break };
            drop(progress);
            take(turn, head);
            progress = self.progress();
            progress.taken += 1;
            self.was_taken.notify_all();
        }
        progress.take = Some(take);
    }
}

/// Ends the line when its thread panics: what that thread was to make or take, others would wait for.
struct EndOnPanic<'l, T, F: FnMut(usize, T)>(&'l Line<T, F>);

impl<T, F: FnMut(usize, T)> Drop for EndOnPanic<'_, T, F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.progress().count = 0;
            self.0.was_taken.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn all_are_taken_once_in_order_and_few_wait() {
        for count in [0, 1, 2, 50] {
            let waiting = Mutex::new((0_usize, 0));
            let mut taken = Vec::new();
            let make = |number: usize| {
                // Some take longer than those behind them.
                std::thread::sleep(Duration::from_micros(if number.is_multiple_of(7) { 3000 } else { 100 }));
                let mut waiting = waiting.lock().unwrap();
                waiting.0 += 1;
                waiting.1 = waiting.1.max(waiting.0);
                number * 10
            };
            make_in_order(count, make, |number, made| {
                std::thread::sleep(Duration::from_micros(300));
                waiting.lock().unwrap().0 -= 1;
                taken.push((number, made));
            });
            let expected: Vec<(usize, usize)> = (0..count).map(|number| (number, number * 10)).collect();
            assert_eq!(taken, expected);
            let most = rayon::current_num_threads() * (WAITING_PER_THREAD + 1) + 1;
            assert!(waiting.lock().unwrap().1 <= most, "{count}");
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_nobody_waits_for_what_is_never_made() {
        let panics = |in_make: bool| {
            let make = |number: usize| assert!(!in_make || number != 3, "make");
            let take = |number: usize, ()| assert!(in_make || number != 3, "take");
            std::panic::catch_unwind(|| make_in_order(200, make, take)).is_err()
        };
        assert!(panics(true) && panics(false));
    }

    #[test]
    fn a_thread_of_the_pool_can_do_it_alone() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let mut sum = 0;
        pool.install(|| make_in_order(100, |number| number, |_, made| sum += made));
        assert_eq!(sum, 4950);
    }
}
