//! Running jobs side by side: a queue, worker threads and one stream of events. What a job does is told in its
//! own module.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::cargo::{LibtestJob, run_libtest};
use crate::command::{self, CommandTest};
use crate::event::{Event, RunEnd};
use crate::googletest::{self, Confirmation, Doubtful, Shard, Unlisted};
use crate::program::{Claims, TestProgram};

/// One thing a worker does.
#[derive(Clone, PartialEq, Debug)]
pub enum Job {
    /// Some tests of a GoogleTest program, in as few processes as possible.
    Shard(Shard),
    /// A GoogleTest program that cannot list its tests.
    Unlisted(Unlisted),
    /// Some tests of a program with Rust's harness, in one process.
    Libtest(LibtestJob),
    /// A program that is one test.
    Command(CommandTest),
}

/// What a worker takes from the queue.
#[derive(Clone, PartialEq, Debug)]
enum Task {
    Job(Job),
    /// What did not pass of a program runs again, the framework's own way.
    Confirmation(Confirmation),
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

impl RunOptions {
    /// With the limit that the project sets for the tests of a program, where it does.
    fn within_limit_of(&self, program: &TestProgram) -> RunOptions {
        let test_timeout = program.test_timeout.unwrap_or(self.test_timeout);
        RunOptions { test_timeout, ..self.clone() }
    }
}

/// Runs all jobs and calls `events`, on the calling thread, with whatever happens. Jobs are begun in the order
/// given, but for those that have to wait for others by what their programs claim;
/// [`googletest::plan_shards`] puts the longest first. Failures of a program are told when all its shards have ended, and
/// have been confirmed where that is asked for.
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
            Job::Libtest(job) => job.tests.len(),
            Job::Unlisted(_) | Job::Command(_) => 1,
        }
    }
}

impl Task {
    fn program(&self) -> &TestProgram {
        match self {
            Task::Job(Job::Shard(shard)) => &shard.program,
            Task::Job(Job::Unlisted(unlisted)) => &unlisted.program,
            Task::Job(Job::Libtest(job)) => &job.program.program,
            Task::Job(Job::Command(test)) => &test.program,
            Task::Confirmation(confirmation) => &confirmation.program,
        }
    }

    fn claims(&self) -> &Claims {
        &self.program().claims
    }
}

/// The tasks that wait, and what the running ones claim.
struct Queue {
    state: Mutex<QueueState>,
    /// A task has ended.
    ended: Condvar,
    /// There is nothing that could run beside anything.
    is_one_job: bool,
}

struct QueueState {
    waiting: VecDeque<Task>,
    running: Vec<Claims>,
    /// By target the programs that are cut into shards.
    programs: BTreeMap<String, Divided>,
}

/// A program that is cut into shards.
#[derive(Default)]
struct Divided {
    /// How many have not ended.
    open: usize,
    ended: Vec<Shard>,
    doubtful: Doubtful,
}

/// A task on its way; its claims end with it.
struct Begun<'q> {
    task: Task,
    queue: &'q Queue,
}

impl Queue {
    fn of(jobs: Vec<Job>) -> Queue {
        let mut programs: BTreeMap<String, Divided> = BTreeMap::new();
        for job in &jobs {
            match job {
                Job::Shard(shard) => programs.entry(shard.program.target.clone()).or_default().open += 1,
                Job::Libtest(_) | Job::Unlisted(_) | Job::Command(_) => {}
            }
        }
        let is_one_job = jobs.len() == 1;
        let waiting = jobs.into_iter().map(Task::Job).collect();
        let state = QueueState { waiting, running: Vec::new(), programs };
        Queue { state: Mutex::new(state), ended: Condvar::new(), is_one_job }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().expect("no worker panics with the queue in hand")
    }

    /// The first task that may run beside the running ones; waits for one of those to end if there is none. `None` when
    /// no more are to be begun.
    fn begin(&self, cancel: &Cancel) -> Option<Begun<'_>> {
        let mut state = self.state();
        while !cancel.is_cancelled() && !state.waiting.is_empty() {
            let QueueState { waiting, running, .. } = &mut *state;
            let may_run = |task: &Task| running.iter().all(|claims| claims.allow(task.claims()));
            if let Some(task) = waiting.iter().position(may_run).and_then(|place| waiting.remove(place)) {
                running.push(task.claims().clone());
                return Some(Begun { task, queue: self });
            }
            state = self.ended.wait(state).expect("no worker panics with the queue in hand");
        }
        None
    }

    /// A shard has ended with these. Gives what is to be told now: all that was kept back of the program, once its last
    /// shard has ended and if nothing has to be confirmed.
    fn shard_ended(&self, shard: &Shard, doubtful: Doubtful) -> Doubtful {
        let mut state = self.state();
        let QueueState { waiting, programs, .. } = &mut *state;
        let divided = programs.entry(shard.program.target.clone()).or_default();
        divided.open = divided.open.saturating_sub(1);
        divided.ended.push(shard.clone());
        divided.doubtful.append(doubtful);
        if divided.open > 0 {
            return Doubtful::default();
        }
        let Divided { ended, doubtful, .. } = std::mem::take(divided);
        match Confirmation::of(&ended, &doubtful, self.is_one_job) {
            Some(confirmation) => {
                waiting.push_back(Task::Confirmation(confirmation));
                Doubtful::default()
            }
            None => doubtful,
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        if let Some(place) = state.running.iter().position(|claims| claims == self.task.claims()) {
            state.running.swap_remove(place);
        }
        self.queue.ended.notify_all();
    }
}

fn work(queue: &Queue, options: &RunOptions, events: &mpsc::Sender<Event>) {
    // A caller that went away (it panicked) gets no more events; the children are still seen to their end.
    let mut emit = |event| drop(events.send(event));
    while let Some(begun) = queue.begin(&options.cancel) {
        let options = &options.within_limit_of(begun.task.program());
        match &begun.task {
            Task::Job(Job::Shard(shard)) => {
                if !googletest::run_own_way(shard, options, &mut emit) {
                    let doubtful = googletest::run_shard(shard, options, &mut emit);
                    queue.shard_ended(shard, doubtful).tell(&mut emit);
                }
            }
            Task::Job(Job::Unlisted(unlisted)) => googletest::run_unlisted(unlisted, options, &mut emit),
            Task::Job(Job::Libtest(job)) => run_libtest(job, options, &mut emit),
            Task::Job(Job::Command(test)) => command::run(test, options, &mut emit),
            Task::Confirmation(confirmation) => confirmation.run(options, &mut emit),
        }
    }
}
