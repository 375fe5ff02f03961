//! Running jobs side by side: a queue, worker threads and one stream of events. What a job does is told in its
//! own module.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::command::{self, CommandTest};
use crate::event::{Event, RunEnd};
use crate::googletest::{self, Shard};
use crate::program::Claims;

/// One thing a worker does.
#[derive(Clone, PartialEq, Debug)]
pub enum Job {
    /// Some tests of a GoogleTest program, in as few processes as possible.
    Shard(Shard),
    /// A program that is one test.
    Command(CommandTest),
}

/// How tests are run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// How many test processes run at a time.
    pub workers: NonZeroUsize,
    /// How long one test may take. A process with many tests may take longer in total.
    pub test_timeout: Duration,
    /// Run GoogleTest tests named `DISABLED_...` too, where they are asked for.
    pub run_disabled: bool,
    pub cancel: Cancel,
}

impl Default for RunOptions {
    /// One worker per core, five minutes per test.
    fn default() -> RunOptions {
        RunOptions {
            workers: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            test_timeout: Duration::from_secs(300),
            run_disabled: false,
            cancel: Cancel::new(),
        }
    }
}

/// Runs all jobs and calls `events`, on the calling thread, with whatever happens. Jobs are begun in the order
/// given, but for those that have to wait for others by what their programs claim;
/// [`googletest::plan_shards`] puts the longest first.
pub fn run(jobs: Vec<Job>, options: &RunOptions, events: &mut dyn FnMut(Event)) -> RunEnd {
    let workers = options.workers.get().min(jobs.len());
    let requested: usize = jobs.iter().map(Job::test_count).sum();
    let queue = Queue::of(jobs);
    let (sender, receiver) = mpsc::channel();
    let mut end = RunEnd::default();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || work(queue, options, &sender));
        }
        drop(sender);
        for event in receiver {
            end.count(&event);
            events(event);
        }
    });
    end.interrupted = end.tests() < requested;
    end
}

impl Job {
    fn test_count(&self) -> usize {
        match self {
            Job::Shard(shard) => shard.tests.len(),
            Job::Command(_) => 1,
        }
    }

    fn claims(&self) -> &Claims {
        match self {
            Job::Shard(shard) => &shard.program.claims,
            Job::Command(test) => &test.program.claims,
        }
    }
}

/// The jobs that wait, and what the running ones claim.
struct Queue {
    state: Mutex<QueueState>,
    /// A job has ended.
    ended: Condvar,
}

struct QueueState {
    waiting: VecDeque<Job>,
    running: Vec<Claims>,
}

/// A job on its way; its claims end with it.
struct Begun<'q> {
    job: Job,
    queue: &'q Queue,
}

impl Queue {
    fn of(jobs: Vec<Job>) -> Queue {
        Queue {
            state: Mutex::new(QueueState { waiting: jobs.into(), running: Vec::new() }),
            ended: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().expect("no worker panics with the queue in hand")
    }

    /// The first job that may run beside the running ones; waits for one of those to end if there is none. `None` when
    /// no more are to be begun.
    fn begin(&self, cancel: &Cancel) -> Option<Begun<'_>> {
        let mut state = self.state();
        while !cancel.is_cancelled() && !state.waiting.is_empty() {
            let QueueState { waiting, running } = &mut *state;
            let may_run = |job: &Job| running.iter().all(|claims| claims.allow(job.claims()));
            if let Some(job) = waiting.iter().position(may_run).and_then(|place| waiting.remove(place)) {
                running.push(job.claims().clone());
                return Some(Begun { job, queue: self });
            }
            state = self.ended.wait(state).expect("no worker panics with the queue in hand");
        }
        None
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        if let Some(place) = state.running.iter().position(|claims| claims == self.job.claims()) {
            state.running.swap_remove(place);
        }
        self.queue.ended.notify_all();
    }
}

fn work(queue: &Queue, options: &RunOptions, events: &mpsc::Sender<Event>) {
    // A caller that went away (it panicked) gets no more events; the children are still seen to their end.
    let mut emit = |event| drop(events.send(event));
    while let Some(begun) = queue.begin(&options.cancel) {
        match &begun.job {
            Job::Shard(shard) => googletest::run_shard(shard, options, &mut emit),
            Job::Command(test) => command::run(test, options, &mut emit),
        }
    }
}
