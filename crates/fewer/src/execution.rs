//! Running the selected tests and recording their outcomes as they come. What is selected and how the result is
//! shown is told elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use fewer_core::{Decision, Digest, Outcome, TestId, Verdict};
use fewer_report::{ProcessFailureView, ResultView, style};
use fewer_runners::command::CommandTest;
use fewer_runners::ctest::{self, CtestTest};
use fewer_runners::googletest::{SelectedTest, Selection, plan_shards};
use fewer_runners::{Event, Job, RunOptions, TestResult};
use fewer_store::{RunEnd, RunId, Store, StoreError};

use crate::console::Progress;
use crate::current::{Current, Image};
use crate::examination::Starter;
use crate::session::Session;

/// Outcomes are on the disk at the latest this long after they are known.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

/// What came of the selected tests.
#[derive(Default)]
pub struct Execution {
    pub results: BTreeMap<TestId, ResultView>,
    pub process_failures: Vec<ProcessFailureView>,
    pub interrupted: bool,
    pub notes: Vec<String>,
    /// Why outcomes could not be recorded.
    pub problem: Option<StoreError>,
}

/// How the user wants tests to run.
pub struct Wishes {
    pub jobs: Option<NonZeroUsize>,
    pub timeout: Option<Duration>,
}

/// Runs what the plan selects, in the run given.
pub fn execute(session: &Session<'_>, current: &Current, run: RunId, wishes: &Wishes) -> Execution {
    let _phase = session.timings.phase("run tests");
    let options = options(session, wishes);
    let work = Work::of(current, options.workers);
    let recorder = Recorder::new(session.shared_store(), run, current);
    let mut watcher = Watcher {
        session,
        progress: session.console.progress(current.plan.count(Decision::Run)),
        recorder: &recorder,
        execution: Execution::default(),
    };
    let is_over = AtomicBool::new(false);
    let mut execution = thread::scope(|scope| {
        let flusher = scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                thread::park_timeout(FLUSH_EVERY);
                recorder.flush();
            }
        });
        let execution = run_all(session, current, work, &options, &mut watcher);
        is_over.store(true, Ordering::SeqCst);
        flusher.thread().unpark();
        execution
    });
    drop(watcher);
    recorder.flush();
    let (problem, notes) = recorder.into_troubles();
    execution.problem = problem;
    execution.notes.extend(notes);
    let end = if execution.interrupted { RunEnd::Interrupted } else { RunEnd::Completed };
    if let Err(error) = session.store().finish_run(run, end) {
        execution.problem.get_or_insert(error);
    }
    execution
}

fn options(session: &Session<'_>, wishes: &Wishes) -> RunOptions {
    let settings = &session.project.settings;
    let defaults = RunOptions::default();
    RunOptions {
        workers: wishes.jobs.or(settings.jobs).unwrap_or(defaults.workers),
        test_timeout: wishes.timeout.or(settings.test_timeout).unwrap_or(defaults.test_timeout),
        run_disabled: false,
        cancel: session.cancel.clone(),
    }
}

fn run_all(
    session: &Session<'_>,
    current: &Current,
    work: Work,
    options: &RunOptions,
    watcher: &mut Watcher<'_>,
) -> Execution {
    let mut interrupted =
        fewer_runners::run(work.jobs, options, &mut |event| watcher.happened(event)).interrupted;
    if session.cancel.is_cancelled() {
        interrupted |= !work.entries.is_empty();
    } else if !work.entries.is_empty() {
        let configuration = session.project.settings.configuration.as_deref();
        let ran = ctest::run(&current.build_directory, configuration, &work.entries, options, &mut |event| {
            watcher.happened(event);
        });
        match ran {
            Ok(end) => interrupted |= end.interrupted,
            Err(_) if session.cancel.is_cancelled() => interrupted = true,
            Err(error) => watcher.execution.process_failures.push(ProcessFailureView {
                target: "ctest".to_string(),
                tests: work.entries.iter().map(|test| test.test.clone()).collect(),
                explanation: error.to_string(),
                output_tail: String::new(),
            }),
        }
    }
    let mut execution = std::mem::take(&mut watcher.execution);
    execution.interrupted = interrupted && session.cancel.is_cancelled();
    execution
}

/// The selected tests, in the form the runners take.
struct Work {
    jobs: Vec<Job>,
    entries: Vec<CtestTest>,
}

impl Work {
    fn of(current: &Current, workers: NonZeroUsize) -> Work {
        let mut selections: BTreeMap<usize, Vec<(usize, SelectedTest)>> = BTreeMap::new();
        let mut commands = Vec::new();
        let mut entries = Vec::new();
        for test in current.plan.with(Decision::Run) {
            let expected = test.expected_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            match &current.starters[&test.id] {
                Starter::GoogleTest { program, order } => selections
                    .entry(*program)
                    .or_default()
                    .push((*order, SelectedTest::new(&test.id.name, expected))),
                Starter::Whole(program) => commands.push(Job::Command(CommandTest {
                    test: test.id.clone(),
                    program: program.clone(),
                    timeout: None,
                })),
                Starter::Ctest(entry) => {
                    entries.push(CtestTest { test: test.id.clone(), entry: entry.clone() });
                }
            }
        }
        let selections = selections
            .into_iter()
            .map(|(program, mut tests)| {
                tests.sort_by_key(|(order, _)| *order);
                let tests = tests.into_iter().map(|(_, test)| test).collect();
                Selection { program: current.programs[program].clone(), tests }
            })
            .collect();
        let mut jobs: Vec<Job> = plan_shards(selections, workers).into_iter().map(Job::Shard).collect();
        jobs.extend(commands);
        Work { jobs, entries }
    }
}

/// Turns events into results, progress and records.
struct Watcher<'w> {
    session: &'w Session<'w>,
    progress: Progress,
    recorder: &'w Recorder<'w>,
    execution: Execution,
}

impl Watcher<'_> {
    fn happened(&mut self, event: Event) {
        match event {
            Event::TestStarted { test } => self.progress.message(&test.to_string()),
            Event::TestEnded { test, .. } => self.progress.advance(&test.to_string()),
            Event::TestFinished(result) => self.finished(result),
            Event::ProcessFailed(failure) => self.execution.process_failures.push(ProcessFailureView {
                target: failure.target,
                tests: failure.tests,
                explanation: failure.explanation,
                output_tail: failure.output_tail,
            }),
        }
    }

    fn finished(&mut self, result: TestResult) {
        let TestResult { test, outcome, message } = result;
        if self.session.console.is_verbose() {
            let line = outcome_line(&test, &outcome);
            self.progress.suspend(|| self.session.console.say(&line));
        }
        self.recorder.add(test.clone(), outcome.clone());
        let Outcome { verdict, duration_s, output_tail } = outcome;
        self.execution.results.insert(test, ResultView { verdict, duration_s, output_tail, message });
    }
}

fn outcome_line(test: &TestId, outcome: &Outcome) -> String {
    let tone = match outcome.verdict {
        Verdict::Passed => style::Tone::Good,
        Verdict::Failed | Verdict::Crashed | Verdict::TimedOut | Verdict::Inconclusive => style::Tone::Bad,
        Verdict::Skipped => style::Tone::Warning,
    };
    let word = style::paint(tone, &format!("{:>12}", outcome.verdict.word()));
    format!("{word} {test} ({})", fewer_report::seconds(outcome.duration_s))
}

/// Writes outcomes in batches, and only those of programs that are still what was analysed.
struct Recorder<'r> {
    store: &'r Mutex<Store>,
    run: RunId,
    current: &'r Current,
    pending: Mutex<Vec<(TestId, Digest, Outcome)>>,
    troubles: Mutex<Troubles>,
}

#[derive(Default)]
struct Troubles {
    problem: Option<StoreError>,
    rebuilt: BTreeSet<String>,
}

impl<'r> Recorder<'r> {
    fn new(store: &'r Mutex<Store>, run: RunId, current: &'r Current) -> Recorder<'r> {
        let (pending, troubles) = (Mutex::default(), Mutex::default());
        Recorder { store, run, current, pending, troubles }
    }

    fn add(&self, test: TestId, outcome: Outcome) {
        let fingerprint = self.current.snapshot[&test];
        lock(&self.pending).push((test, fingerprint, outcome));
    }

    fn flush(&self) {
        let mut batch = std::mem::take(&mut *lock(&self.pending));
        if batch.is_empty() {
            return;
        }
        let mut troubles = lock(&self.troubles);
        let changed = Changed::look(self.current);
        batch.retain(|(test, ..)| match changed.touching(&test.target) {
            Some(image) => {
                troubles.rebuilt.insert(image.to_string());
                false
            }
            None => true,
        });
        if troubles.problem.is_none()
            && let Err(error) = lock(self.store).record_outcomes(self.run, &batch)
        {
            troubles.problem = Some(error);
        }
    }

    fn into_troubles(self) -> (Option<StoreError>, Vec<String>) {
        let Troubles { problem, rebuilt } =
            self.troubles.into_inner().expect("nobody panics while recording");
        let note = |image| {
            format!(
                "{image} was rebuilt while tests ran: outcomes that may be of either build are not recorded"
            )
        };
        (problem, rebuilt.into_iter().map(note).collect())
    }
}

/// Programs and libraries that are no longer those that were analysed.
struct Changed<'c> {
    programs: HashMap<&'c str, &'c str>,
    library: Option<&'c str>,
}

impl<'c> Changed<'c> {
    fn look(current: &'c Current) -> Changed<'c> {
        let now = |image: &Image| -> Option<SystemTime> {
            std::fs::metadata(current.build_directory.join(&image.name)).ok()?.modified().ok()
        };
        let mut changed = Changed { programs: HashMap::new(), library: None };
        for image in
            current.images.iter().filter(|image| image.modified.is_some() && now(image) != image.modified)
        {
            if image.is_library {
                changed.library = Some(&image.name);
            } else {
                changed.programs.insert(&image.name, &image.name);
            }
        }
        changed
    }

    /// The changed file that a target's outcomes may be of.
    fn touching(&self, target: &str) -> Option<&'c str> {
        self.programs.get(target).copied().or(self.library)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics while recording")
}
