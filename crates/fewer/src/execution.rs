//! Running the selected tests and recording their outcomes as they come. What is selected and how the result is
//! shown is told elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use fewer_console::Progress;
use fewer_core::{Decision, Digest, Outcome, PlannedTest, Reason, TestId, Verdict};
use fewer_report::{CaseView, ProcessFailureView, ResultView, style};
use fewer_runners::cargo::nextest::{self, NextestRun};
use fewer_runners::cargo::{Confirmation, LibtestJob, LibtestProgram};
use fewer_runners::command::CommandTest;
use fewer_runners::ctest::{self, CtestTest};
use fewer_runners::googletest::{SelectedTest, Selection, Unlisted, plan_shards};
use fewer_runners::java::{self as java_runner, ModuleTests};
use fewer_runners::{CaseResult, Event, Indivisible, Job, RunOptions, TestProgram, TestResult};
use fewer_store::{RunEnd, RunId, Store, StoreError};

use crate::current::Current;
use crate::division;
use crate::examination::{ListedProgram, Starter};
use crate::java::{JavaMeans, remember_unseen};
use crate::part::{Image, ObjectMeans};
use crate::records::UNSEEN_FILE;
use crate::session::Session;

/// Outcomes are on the disk at the latest this long after they are known.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

/// What documentation tests have more than others, because they are compiled when they run.
const COMPILING: Duration = Duration::from_secs(15);

/// What came of the selected tests.
#[derive(Default)]
pub struct Execution {
    pub results: BTreeMap<TestId, ResultView>,
    pub process_failures: Vec<ProcessFailureView>,
    pub interrupted: bool,
    pub notes: Vec<String>,
    /// Why outcomes could not be recorded.
    pub problem: Option<StoreError>,
    /// Whether programs were rebuilt meanwhile, so that outcomes were not recorded.
    pub was_overtaken: bool,
}

/// How the user wants tests to run.
pub struct Wishes {
    pub jobs: Option<NonZeroUsize>,
    pub timeout: Option<Duration>,
    /// By test, from 0, which are to begin first; empty where that does not matter.
    pub ranks: BTreeMap<TestId, usize>,
}

impl Wishes {
    /// How many test processes run at a time.
    pub fn workers(&self, session: &Session<'_>) -> NonZeroUsize {
        self.jobs.or(session.project.settings.jobs).unwrap_or(RunOptions::default().workers)
    }

    /// What is not ranked comes last.
    fn rank(&self, test: &TestId) -> usize {
        self.ranks.get(test).copied().unwrap_or(usize::MAX)
    }
}

/// Runs what the plan selects, in the run given.
pub fn execute(session: &Session<'_>, current: &Current, run: RunId, wishes: &Wishes) -> Execution {
    let _phase = session.timings.phase("run tests");
    let options = options(session, wishes);
    let mut work = Work::of(session, current, wishes, options.workers);
    if !wishes.ranks.is_empty() {
        work.bring_into_order(current, wishes);
    }
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
    recorder.tell_troubles(&mut execution);
    if let Err(error) = session.store().finish_run(run, end_of(&execution, current)) {
        execution.problem.get_or_insert(error);
    }
    execution
}

/// A run counts as completed only if every test that was due has its outcome on the disk.
fn end_of(execution: &Execution, current: &Current) -> RunEnd {
    let has_outcome = |test: &PlannedTest| execution.results.contains_key(&test.id);
    if execution.interrupted {
        RunEnd::Interrupted
    } else if execution.problem.is_some()
        || execution.was_overtaken
        || !current.plan.with(Decision::Run).all(has_outcome)
    {
        RunEnd::Aborted
    } else {
        RunEnd::Completed
    }
}

fn options(session: &Session<'_>, wishes: &Wishes) -> RunOptions {
    let settings = &session.project.settings;
    let defaults = RunOptions::default();
    RunOptions {
        workers: wishes.workers(session),
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
    let mut confirmation = work.confirmation;
    let mut interrupted = fewer_runners::run(work.jobs, options, &mut |event| {
        confirmation.hold(event).into_iter().for_each(|event| watcher.happened(event));
    })
    .interrupted;
    if session.cancel.is_cancelled() {
        interrupted |= !work.entries.is_empty();
    } else if let Some(objects) = current.objects.as_ref().filter(|_| !work.entries.is_empty()) {
        let configuration = session.project.settings.configuration.as_deref();
        let ran = ctest::run(&objects.build_directory, configuration, &work.entries, options, &mut |event| {
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
    interrupted |= run_nextest(session, current, &work.nextest, &mut confirmation, watcher);
    watcher.confirm(confirmation, options);
    if let Some(java) = &current.java {
        interrupted |= run_java(session, java, work.classes, options, watcher);
    }
    let mut execution = std::mem::take(&mut watcher.execution);
    execution.interrupted = interrupted && session.cancel.is_cancelled();
    execution
}

/// Runs what is nextest's; true when it was interrupted.
fn run_nextest(
    session: &Session<'_>,
    current: &Current,
    work: &NextestRun,
    confirmation: &mut Confirmation,
    watcher: &mut Watcher<'_>,
) -> bool {
    let nextest = current.objects.as_ref().and_then(|objects| objects.nextest.as_ref());
    let Some(nextest) = nextest.filter(|_| !work.tests.is_empty() && !session.cancel.is_cancelled()) else {
        return !work.tests.is_empty();
    };
    let mut happened = |event| {
        confirmation.hold(event).into_iter().for_each(|event| watcher.happened(event));
    };
    match nextest::run(nextest, work, &session.cancel, &mut happened) {
        Ok(end) => end.interrupted,
        Err(_) if session.cancel.is_cancelled() => true,
        Err(error) => {
            watcher.execution.process_failures.push(ProcessFailureView {
                target: "cargo nextest".to_string(),
                tests: work.tests.clone(),
                explanation: error.to_string(),
                output_tail: String::new(),
            });
            false
        }
    }
}

/// Runs test classes; true when it was interrupted.
fn run_java(
    session: &Session<'_>,
    java: &JavaMeans,
    modules: Vec<ModuleTests>,
    options: &RunOptions,
    watcher: &mut Watcher<'_>,
) -> bool {
    let tests: Vec<TestId> =
        modules.iter().flat_map(|module| &module.selected).map(|test| test.test.clone()).collect();
    // A build may do more than run tests when it tests, and `mvn test` would do it.
    let is_due = !tests.is_empty() || modules.iter().any(|module| !module.goals.is_empty());
    if !is_due || session.cancel.is_cancelled() {
        return is_due;
    }
    match java_runner::run(&java.tool, modules, options, &mut |event| watcher.happened(event)) {
        Ok(end) => {
            watcher.execution.notes.extend(end.notes);
            watcher.discovered(session, java, end.unexpected);
            end.end.interrupted
        }
        Err(_) if session.cancel.is_cancelled() => true,
        Err(error) => {
            watcher.execution.process_failures.push(ProcessFailureView {
                target: java.tool.program.display().to_string(),
                tests,
                explanation: error.to_string(),
                output_tail: String::new(),
            });
            false
        }
    }
}

/// The rank of a test, and its number in the program's list.
type Place = (usize, usize);

/// The selected tests, in the form the runners take.
struct Work {
    jobs: Vec<Job>,
    entries: Vec<CtestTest>,
    nextest: NextestRun,
    classes: Vec<ModuleTests>,
    confirmation: Confirmation,
}

impl Work {
    fn of(session: &Session<'_>, current: &Current, wishes: &Wishes, workers: NonZeroUsize) -> Work {
        let settings = &session.project.settings;
        let mut nextest = NextestRun {
            tests: Vec::new(),
            executables: BTreeMap::new(),
            jobs: wishes.jobs.or(settings.jobs),
            timeout: wishes.timeout.or(settings.test_timeout),
        };
        let has_nextest = current.objects.as_ref().is_some_and(|objects| objects.nextest.is_some());
        let classes = current.java.as_ref().map(|java| java.work(&current.plan));
        let mut selections: BTreeMap<usize, Vec<(Place, SelectedTest)>> = BTreeMap::new();
        let mut commands = Vec::new();
        let mut libtest: BTreeMap<&str, (&Arc<LibtestProgram>, Vec<String>)> = BTreeMap::new();
        let mut entries = Vec::new();
        for test in current.plan.with(Decision::Run) {
            let expected = test.expected_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            match current.starters.get(&test.id) {
                Some(Starter::GoogleTest { program, order }) => selections
                    .entry(*program)
                    .or_default()
                    .push(((wishes.rank(&test.id), *order), selected(test, expected))),
                Some(Starter::Unlisted(program)) => {
                    commands.push(Job::Unlisted(Unlisted { test: test.id.clone(), program: program.clone() }))
                }
                Some(Starter::Libtest(program)) => {
                    let jobs = libtest.entry(&program.program.target).or_insert((program, Vec::new()));
                    jobs.1.push(test.id.name.clone());
                }
                Some(Starter::Whole(program)) => commands.push(command(&test.id, program, None)),
                Some(Starter::Documentation(program)) => {
                    let timeout = options(session, wishes).test_timeout.saturating_add(COMPILING);
                    commands.push(command(&test.id, program, Some(timeout)));
                }
                Some(Starter::Ctest(entry)) => {
                    entries.push(CtestTest { test: test.id.clone(), entry: entry.clone() });
                }
                // A class.
                None => {}
            }
        }
        let programs = current.objects.as_ref().map_or(&[][..], |objects| objects.programs.as_slice());
        let targets: Vec<&str> =
            selections.keys().map(|program| programs[*program].program.target.as_str()).collect();
        let divisions = division::of(session, &targets);
        let selections = selections
            .into_iter()
            .map(|(number, mut tests)| {
                tests.sort_by_key(|(place, _)| *place);
                let ListedProgram { program, own_way } = &programs[number];
                Selection {
                    tests: tests.into_iter().map(|(_, test)| test).collect(),
                    division: divisions.get(&program.target).copied().unwrap_or_default(),
                    own_way: own_way.clone(),
                    program: program.clone(),
                }
            })
            .collect();
        let mut jobs: Vec<Job> = plan_shards(selections, workers).into_iter().map(Job::Shard).collect();
        let confirmation = libtest.values().map(|(program, tests)| ((*program).clone(), tests.len()));
        let confirmation = Confirmation::of(confirmation);
        for (program, tests) in libtest.into_values() {
            if has_nextest && !program.is_together {
                let TestProgram { target, executable, .. } = &program.program;
                nextest.tests.extend(tests.iter().map(|test| TestId::new(target, test)));
                nextest.executables.insert(target.clone(), executable.clone());
            } else {
                jobs.extend(libtest_jobs(program, tests));
            }
        }
        jobs.extend(commands);
        Work { jobs, entries, nextest, classes: classes.unwrap_or_default(), confirmation }
    }

    /// What holds the test that is ranked first begins first. A program runs the tests of one process in its own order,
    /// and so do ctest, nextest, Maven and Gradle.
    fn bring_into_order(&mut self, current: &Current, wishes: &Wishes) {
        let rank = |test: &TestId| wishes.rank(test);
        let listed = |target: &str, name: &str| match current.starters.get(&TestId::new(target, name)) {
            Some(Starter::GoogleTest { order, .. }) => *order,
            Some(
                Starter::Unlisted(_)
                | Starter::Whole(_)
                | Starter::Documentation(_)
                | Starter::Libtest(_)
                | Starter::Ctest(_),
            )
            | None => usize::MAX,
        };
        self.jobs.sort_by_cached_key(|job| match job {
            Job::Shard(shard) => {
                let tests = shard.tests.iter().map(|name| TestId::new(&shard.program.target, name));
                tests.map(|test| rank(&test)).min().unwrap_or(usize::MAX)
            }
            Job::Unlisted(unlisted) => rank(&unlisted.test),
            Job::Libtest(job) => {
                let tests = job.tests.iter().map(|name| TestId::new(&job.program.program.target, name));
                tests.map(|test| rank(&test)).min().unwrap_or(usize::MAX)
            }
            Job::Command(command) => rank(&command.test),
        });
        for job in &mut self.jobs {
            match job {
                Job::Shard(shard) => {
                    let target = &shard.program.target;
                    shard.tests.sort_by_cached_key(|name| listed(target, name));
                }
                Job::Unlisted(_) | Job::Libtest(_) | Job::Command(_) => {}
            }
        }
        self.entries.sort_by_key(|entry| rank(&entry.test));
        for module in &mut self.classes {
            module.selected.sort_by_key(|class| rank(&class.test));
        }
        let first =
            |module: &ModuleTests| module.selected.first().map_or(usize::MAX, |class| rank(&class.test));
        self.classes.sort_by_key(first);
    }
}

fn selected(test: &PlannedTest, expected: Option<Duration>) -> SelectedTest {
    let is_known_to_fail = matches!(test.reason, Reason::FailedLast { .. } | Reason::Flaky { .. });
    SelectedTest { is_known_to_fail, ..SelectedTest::new(&test.id.name, expected) }
}

fn command(test: &TestId, program: &TestProgram, timeout: Option<Duration>) -> Job {
    Job::Command(CommandTest { test: test.clone(), program: program.clone(), timeout })
}

/// A process for all tests of the program that are selected, or for each of them.
fn libtest_jobs(program: &Arc<LibtestProgram>, tests: Vec<String>) -> Vec<Job> {
    let job = |tests: Vec<String>| Job::Libtest(LibtestJob { program: program.clone(), tests });
    if program.is_together {
        vec![job(tests)]
    } else {
        tests.into_iter().map(|test| job(vec![test])).collect()
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
            Event::Indivisible(indivisible) => self.not_divisible(&indivisible),
            Event::ProcessFailed(failure) => self.execution.process_failures.push(ProcessFailureView {
                target: failure.target,
                tests: failure.tests,
                explanation: failure.explanation,
                output_tail: failure.output_tail,
            }),
        }
    }

    fn finished(&mut self, result: TestResult) {
        let TestResult { test, outcome, message, cases, earlier } = result;
        if self.session.console.is_verbose() {
            let line = outcome_line(&test, &outcome);
            self.progress.suspend(|| self.session.console.say(&line));
        }
        earlier.into_iter().for_each(|outcome| self.recorder.add(test.clone(), outcome));
        self.recorder.add(test.clone(), outcome.clone());
        let Outcome { verdict, duration_s, output_tail } = outcome;
        let cases = cases.into_iter().map(case_view).collect();
        let result = ResultView { verdict, duration_s, output_tail, message, cases };
        // A program's test and a class of the same id are both run: a failure of either counts.
        let has_failed = self.execution.results.get(&test).is_some_and(|known| known.verdict.is_failure());
        if !has_failed {
            self.execution.results.insert(test, result);
        }
    }
}

impl Watcher<'_> {
    /// Tests that pass only the framework's own way: the program runs so from now on.
    fn not_divisible(&mut self, indivisible: &Indivisible) {
        self.execution.notes.push(division::note(indivisible));
        self.remember(indivisible);
    }

    /// Takes the failures that cargo's own way of running the programs has, too. Programs with others are remembered.
    fn confirm(&mut self, confirmation: Confirmation, options: &RunOptions) {
        let refuted = confirmation.settle(options, &mut |event| self.happened(event));
        for Indivisible { target, .. } in &refuted {
            self.execution.notes.push(format!(
                "{target}: tests that failed in processes of their own passed when the whole program ran as under `cargo \
                 test`: they count as passed, and from now on the program's tests share a process. Say [cargo] processes = \
                 \"program\" in fewer.toml to have it so for all programs"
            ));
        }
        refuted.iter().for_each(|indivisible| self.remember(indivisible));
    }

    fn remember(&mut self, indivisible: &Indivisible) {
        if let Err(error) = division::remember(&self.session.store(), indivisible) {
            self.execution.notes.push(format!("this cannot be remembered: {error}"));
        }
    }

    /// Classes that nobody knew to be tests: what they did is told, and from now on they are. A name that is not that of a
    /// class cannot be run again: only its failure counts.
    fn discovered(&mut self, session: &Session<'_>, java: &JavaMeans, results: Vec<TestResult>) {
        let ids: Vec<TestId> = results.iter().map(|result| result.test.clone()).collect();
        let ids: Vec<TestId> = ids.into_iter().filter(|id| java.has_class(&id.name)).collect();
        if !ids.is_empty() {
            let names: Vec<String> = ids.iter().take(3).map(TestId::to_string).collect();
            self.execution.notes.push(format!(
                "{} classes ran as tests in which fewer sees none, such as {}: from now on they count as tests",
                ids.len(),
                names.join(", ")
            ));
            let vouch = || session.store().vouch_for(UNSEEN_FILE);
            let remembered = remember_unseen(&session.project, &ids).map_err(anyhow::Error::new);
            if let Err(error) = remembered.and_then(|()| Ok(vouch()?)) {
                self.execution.notes.push(format!("they cannot be remembered: {error}"));
            }
        }
        for TestResult { test, outcome, message, .. } in results {
            if outcome.verdict.is_failure() {
                self.execution.process_failures.push(ProcessFailureView {
                    target: test.target.clone(),
                    explanation: format!("{test} failed: {}", message.unwrap_or_default()),
                    tests: vec![test],
                    output_tail: outcome.output_tail,
                });
            }
        }
    }
}

fn case_view(case: CaseResult) -> CaseView {
    let CaseResult { class, name, verdict, duration_s, message, detail } = case;
    CaseView { class, name, verdict, duration_s, message, detail }
}

fn outcome_line(test: &TestId, outcome: &Outcome) -> String {
    let tone = match outcome.verdict {
        Verdict::Passed => style::Tone::Good,
        Verdict::Failed | Verdict::Crashed | Verdict::TimedOut | Verdict::Inconclusive => style::Tone::Bad,
        Verdict::Skipped | Verdict::Excluded => style::Tone::Warning,
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
        // Two outcomes of one id and state would make it look flaky.
        if self.current.is_shared(&test) {
            return;
        }
        let fingerprint = self.current.snapshot[&test];
        lock(&self.pending).push((test, fingerprint, outcome));
    }

    fn flush(&self) {
        let mut batch = std::mem::take(&mut *lock(&self.pending));
        if batch.is_empty() {
            return;
        }
        let mut troubles = lock(&self.troubles);
        let has_java = |java: &&JavaMeans| batch.iter().any(|(test, ..)| java.has_module(&test.target));
        let changed = Changed::look(self.current, self.current.java.as_ref().filter(has_java));
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

    fn tell_troubles(self, execution: &mut Execution) {
        let Troubles { problem, rebuilt } =
            self.troubles.into_inner().expect("nobody panics while recording");
        let note = |image| {
            format!(
                "{image} was rebuilt while tests ran: outcomes that may be of either build are not recorded"
            )
        };
        execution.problem = problem;
        execution.was_overtaken = !rebuilt.is_empty();
        execution.notes.extend(rebuilt.into_iter().map(note));
    }
}

/// Programs and libraries that are no longer those that were analysed.
struct Changed<'c> {
    programs: HashMap<&'c str, &'c str>,
    library: Option<&'c str>,
    /// The Java part, if its classes changed.
    java: Option<&'c JavaMeans>,
}

impl<'c> Changed<'c> {
    fn look(current: &'c Current, java: Option<&'c JavaMeans>) -> Changed<'c> {
        let java = java.filter(|java| !java.is_unchanged());
        let mut changed = Changed { programs: HashMap::new(), library: None, java };
        let Some(ObjectMeans { images, .. }) = &current.objects else { return changed };
        let now =
            |image: &Image| -> Option<SystemTime> { std::fs::metadata(&image.path).ok()?.modified().ok() };
        for image in images.iter().filter(|image| image.modified.is_some() && now(image) != image.modified) {
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
        if self.java.is_some_and(|java| java.has_module(target)) {
            return Some("a class on the class path");
        }
        self.programs.get(target).copied().or(self.library)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics while recording")
}
