//! Running selected test classes with the project's own tool, in as many rounds as it takes: a virtual machine that
//! dies or a class that hangs must not cost the others their results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use fewer_core::test_id::TestId;
use fewer_lifetime::HeldDirectory;

use super::conclusion::{Concluded, WhyAlone, conclude, died_in_company, left_over};
use super::fact::{Fact, GoalEnd, parse};
use super::reports::{self, ReportedCase};
use super::watch::Watch;
use super::{JavaEnd, JavaError, ModuleTests, Tool, ToolCommand, console, gradle, maven};
use crate::event::{Event, ProcessFailure};
use crate::junit::Finding;
use crate::process::{Exit, Leftovers, Stop, Streams, supervise};
use crate::workers::RunOptions;

/// What JUnit's launcher writes when it is done with them all, whether or not there were tests for them.
const ENGINE_REPORTS: [&str; 2] = ["TEST-junit-jupiter.xml", "TEST-junit-vintage.xml"];

/// One start of the tool.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) stop: Option<Stop>,
    pub(super) exit: Exit,
    pub(super) output: String,
    /// Selected classes that began, as far as the tool tells.
    pub(super) began: BTreeSet<String>,
    /// Those of them that did not end.
    pub(super) running: BTreeSet<String>,
    pub(super) overdue: Option<String>,
    /// By target.
    pub(super) modules: BTreeMap<String, ModuleRound>,
    /// Goals and tasks that failed and are no tests.
    pub(super) failures: Vec<ProcessFailure>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct ModuleRound {
    pub(super) end: ModuleEnd,
    pub(super) cases: Vec<ReportedCase>,
    /// Some reports cannot be read: that a class has none then tells nothing.
    pub(super) has_unreadable: bool,
    /// How often it ran its tests.
    pub(super) runs: usize,
    /// What keeps single classes from being left out.
    pub(super) whole: String,
    directories: BTreeSet<PathBuf>,
}

/// How far the tests of a module came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum ModuleEnd {
    #[default]
    NotBegun,
    CutShort,
    Succeeded,
    Failed {
        message: String,
    },
}

/// Runs the selected tests of all modules and tells what becomes of each.
pub fn run(
    tool: &ToolCommand,
    modules: Vec<ModuleTests>,
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<JavaEnd, JavaError> {
    let requested: usize = modules.iter().map(|module| module.selected.len()).sum();
    let mut rounds = Rounds::new(modules);
    let mut java_end = JavaEnd::default();
    while rounds.is_due() && !options.cancel.is_cancelled() {
        let mut emit = |event: Event| {
            java_end.end.count(&event);
            events(event);
        };
        let batch = rounds.batch(tool.tool);
        let round = match tool.tool {
            Tool::Maven | Tool::Gradle => build_tool_round(tool, &batch, options, &mut emit)?,
            Tool::Console => console_round(tool, &batch, options, &mut emit)?,
        };
        let concluded = conclude(tool.tool, &batch, &round, options);
        java_end.unexpected.extend(concluded.unexpected.iter().cloned());
        java_end.notes.extend(
            concluded.notes.iter().filter(|note| !java_end.notes.contains(note)).cloned().collect::<Vec<_>>(),
        );
        let is_cancelled = round.stop == Some(Stop::Cancelled);
        rounds.take(concluded, &batch, is_cancelled, &mut emit);
        if is_cancelled {
            break;
        }
    }
    java_end.end.interrupted = java_end.end.tests() < requested;
    Ok(java_end)
}

/// What is still to be done, and what is known from the rounds before.
struct Rounds {
    modules: Vec<ModuleTests>,
    /// Tests that get a round of their own, before the rest of their module.
    alone: BTreeMap<TestId, WhyAlone>,
    /// Failures of the tool that were told.
    told: BTreeSet<(String, String)>,
}

impl Rounds {
    fn new(modules: Vec<ModuleTests>) -> Rounds {
        Rounds { modules, alone: BTreeMap::new(), told: BTreeSet::new() }
    }

    fn is_due(&self) -> bool {
        self.modules.iter().any(ModuleTests::is_due)
    }

    /// What one round is to do: everything, or a test for itself; of the console launcher, in one module.
    fn batch(&self, tool: Tool) -> Vec<ModuleTests> {
        let mut batch = self.modules.clone();
        if tool == Tool::Console {
            let first = batch.iter().position(ModuleTests::is_due).unwrap_or(0);
            batch = batch.drain(first..=first).collect();
        }
        for module in &mut batch {
            let first = module.selected.iter().position(|test| self.alone.contains_key(&test.test));
            if let Some(first) = first {
                let one = module.selected.remove(first);
                module.others.append(&mut module.selected);
                module.selected.push(one);
            }
        }
        batch
    }

    /// Tells what is known; what is not has another round as long as rounds lead to anything.
    fn take(
        &mut self,
        concluded: Concluded,
        batch: &[ModuleTests],
        is_cancelled: bool,
        emit: &mut dyn FnMut(Event),
    ) {
        let Concluded { results, failures, alone, open, .. } = concluded;
        let has_led_to_something = !results.is_empty() || !alone.is_empty();
        let mut doubtful: BTreeMap<TestId, String> = BTreeMap::new();
        for result in results {
            let result = match self.alone.get(&result.test) {
                Some(WhyAlone::Died) if !result.outcome.verdict.is_failure() => {
                    doubtful.extend(self.company(&result.test));
                    died_in_company(result)
                }
                Some(WhyAlone::Died | WhyAlone::Shares) | None => result,
            };
            self.settle(&result.test);
            emit(Event::TestFinished(result));
        }
        for failure in failures {
            if self.told.insert((failure.target.clone(), failure.explanation.clone())) {
                emit(Event::ProcessFailed(failure));
            }
        }
        self.alone.extend(alone);
        if !has_led_to_something && !is_cancelled {
            doubtful.extend(open);
        }
        for (test, why) in doubtful {
            if self.settle(&test) {
                emit(Event::TestFinished(left_over(&test, &why)));
            }
        }
        // Once is enough.
        let is_done = |module: &ModuleTests| batch.iter().any(|done| done.target == module.target);
        self.modules.iter_mut().filter(|module| is_done(module)).for_each(|module| module.goals.clear());
    }

    /// A test needs no further round; false if it was not to be run.
    fn settle(&mut self, test: &TestId) -> bool {
        for module in &mut self.modules {
            if let Some(index) = module.selected.iter().position(|selected| selected.test == *test) {
                let done = module.selected.remove(index);
                module.others.push(done);
                return true;
            }
        }
        false
    }

    /// The tests that ran together with one that the virtual machine died in, and that alone is innocent.
    fn company(&self, test: &TestId) -> BTreeMap<TestId, String> {
        let why = format!(
            "the virtual machine died while {test} was running, which does not kill it alone: any class that ran \
             before may have done it"
        );
        let module = self.modules.iter().filter(|module| module.target == test.target);
        let others = module.flat_map(|module| &module.selected).filter(|other| other.test != *test);
        others.map(|other| (other.test.clone(), why.clone())).collect()
    }
}

fn build_tool_round(
    tool: &ToolCommand,
    modules: &[ModuleTests],
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<Round, JavaError> {
    let facts = tool.provide("tested.jsonl", "")?;
    let since = written(&facts)?;
    let command = match tool.tool {
        Tool::Maven | Tool::Console => maven::test_command(tool, modules, &facts, &options.cancel)?,
        Tool::Gradle => gradle::test_command(tool, modules, &facts)?,
    };
    let mut round = watched(tool, command, modules, options, events)?;
    let probe = tool.provide("ended", "")?;
    let until = written(&probe)?;
    let text = fewer_files::read_to_string(&facts).unwrap_or_default();
    // What is left of a killed process is in nobody's way.
    let _ = fs::remove_file(&facts);
    let _ = fs::remove_file(&probe);
    let told =
        parse(&text).map_err(|error| JavaError::Facts { path: facts.clone(), reason: error.to_string() })?;
    let targets: BTreeMap<PathBuf, &str> =
        modules.iter().map(|module| (real(&module.directory), module.target.as_str())).collect();
    for fact in told {
        round.take(fact, &targets);
    }
    round.read_reports(&(since..=until));
    Ok(round)
}

fn console_round(
    tool: &ToolCommand,
    modules: &[ModuleTests],
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<Round, JavaError> {
    let failed = |source| JavaError::Workshop { path: tool.workshop.clone(), source };
    fs::create_dir_all(&tool.workshop).map_err(failed)?;
    let reports_directory = HeldDirectory::new_in(&tool.workshop, "reports-").map_err(failed)?;
    let [module] = modules else { unreachable!("the console launcher runs a module at a time") };
    let command = console::test_command(tool, module, reports_directory.path());
    let mut round = watched(tool, command, modules, options, events)?;
    let (cases, unreadable) =
        reports::read(reports_directory.path(), &(SystemTime::UNIX_EPOCH..=SystemTime::now()));
    let has_failures = cases.iter().any(|reported| reported.case.finding == Some(Finding::Failed));
    let is_whole = ENGINE_REPORTS.iter().all(|name| reports_directory.path().join(name).is_file());
    let end = match (round.stop, round.exit) {
        (Some(_), _) => ModuleEnd::CutShort,
        (None, exit) if !is_whole => {
            ModuleEnd::Failed { message: format!("the virtual machine {exit} before the tests were done") }
        }
        (None, Exit::Code(0)) => ModuleEnd::Succeeded,
        (None, Exit::Code(1)) if has_failures => ModuleEnd::Succeeded,
        (None, exit) => ModuleEnd::Failed { message: format!("the virtual machine {exit}") },
    };
    let has_unreadable = !unreadable.is_empty();
    round.notes.extend(unreadable);
    let module_round = ModuleRound { end, cases, has_unreadable, runs: 1, ..ModuleRound::default() };
    round.modules.insert(module.target.clone(), module_round);
    Ok(round)
}

fn watched(
    tool: &ToolCommand,
    command: Command,
    modules: &[ModuleTests],
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<Round, JavaError> {
    let selected = || modules.iter().flat_map(|module| &module.selected);
    let by_class: BTreeMap<&str, &TestId> =
        selected().flat_map(|test| test.classes.iter().map(|class| (class.as_str(), &test.test))).collect();
    let mut watch = Watch::new(by_class, options.test_timeout, events);
    if tool.tool == Tool::Console {
        // It does not tell which class runs.
        watch.limit_whole(u32::try_from(selected().count()).unwrap_or(u32::MAX));
    }
    let ended = supervise(command, Streams::Together, Leftovers::Kill, &options.cancel, &mut watch)
        .map_err(|source| JavaError::Start { program: tool.program.display().to_string(), source })?;
    let overdue = (ended.stop == Some(Stop::Deadline)).then(|| watch.overdue().map(str::to_string)).flatten();
    Ok(Round {
        stop: ended.stop,
        exit: ended.exit,
        output: watch.transcript.text(),
        running: watch.running(),
        began: std::mem::take(&mut watch.began),
        overdue,
        modules: BTreeMap::new(),
        failures: Vec::new(),
        notes: Vec::new(),
    })
}

impl Round {
    /// Whether something is known to have failed where the tool ended with more than 0.
    pub(super) fn is_end_explained(&self, tool: Tool) -> bool {
        let has_failed = |module: &ModuleRound| matches!(module.end, ModuleEnd::Failed { .. });
        match tool {
            Tool::Maven | Tool::Gradle => {
                self.exit == Exit::Code(0)
                    || !self.failures.is_empty()
                    || self.modules.values().any(has_failed)
            }
            // Its end is that of its module.
            Tool::Console => true,
        }
    }

    fn take(&mut self, fact: Fact, targets: &BTreeMap<PathBuf, &str>) {
        match fact {
            Fact::Session { .. } | Fact::Module(_) => {}
            Fact::Problem { what } => {
                self.notes.push(format!("the build tool could not tell everything: {what}"))
            }
            Fact::Goal { directory, goal, message, .. } => self.failures.push(ProcessFailure {
                target: targets.get(&real(&directory)).map_or(goal.clone(), |target| target.to_string()),
                tests: Vec::new(),
                explanation: format!("{goal} failed: {}", message.trim_end()),
                output_tail: self.output.clone(),
            }),
            Fact::Tests { end, directory, reports, message, whole, .. } => {
                let Some(target) = targets.get(&real(&directory)) else { return };
                let module = self.modules.entry(target.to_string()).or_default();
                // A module may run its tests several times: the worst end counts.
                module.end = match (end, std::mem::take(&mut module.end)) {
                    (GoalEnd::Started, ModuleEnd::Failed { message }) => ModuleEnd::Failed { message },
                    (GoalEnd::Started, _) => ModuleEnd::CutShort,
                    (GoalEnd::Succeeded, ModuleEnd::Failed { message }) => ModuleEnd::Failed { message },
                    (GoalEnd::Succeeded, _) => ModuleEnd::Succeeded,
                    (GoalEnd::Failed, _) => ModuleEnd::Failed { message },
                };
                module.runs += usize::from(end == GoalEnd::Started);
                module.directories.insert(reports);
                if !whole.is_empty() {
                    module.whole = whole;
                }
            }
        }
    }

    fn read_reports(&mut self, during: &RangeInclusive<SystemTime>) {
        for module in self.modules.values_mut() {
            for directory in &module.directories {
                let (cases, unreadable) = reports::read(directory, during);
                module.cases.extend(cases);
                module.has_unreadable |= !unreadable.is_empty();
                self.notes.extend(unreadable);
            }
        }
    }
}

/// When a file was written, by the clock of its file system.
fn written(path: &Path) -> Result<SystemTime, JavaError> {
    let found = fs::metadata(path).and_then(|found| found.modified());
    found.map_err(|source| JavaError::Workshop { path: path.to_path_buf(), source })
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
