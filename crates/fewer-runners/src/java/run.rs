//! Running selected test classes with the project's own tool, in as many rounds as it takes: a virtual machine that
//! dies or a class that hangs must not cost the others their results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use fewer_core::test_id::TestId;

use super::conclusion::{conclude, left_over};
use super::fact::{Fact, GoalEnd, parse};
use super::reports::{self, ClassReports};
use super::watch::Watch;
use super::{ClassTest, JavaEnd, JavaError, ModuleTests, Tool, ToolCommand, console, gradle, maven};
use crate::event::{Event, ProcessFailure};
use crate::process::{Exit, Leftovers, Stop, Streams, supervise};
use crate::workers::RunOptions;

/// One start of the tool.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) stop: Option<Stop>,
    pub(super) exit: Exit,
    pub(super) output: String,
    /// Classes that had begun and not ended.
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
    pub(super) reports: ClassReports,
    /// Some reports cannot be read: that a class has none then tells nothing.
    pub(super) has_unreadable: bool,
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
    mut modules: Vec<ModuleTests>,
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<JavaEnd, JavaError> {
    let requested: usize = modules.iter().map(|module| module.selected.len()).sum();
    let mut java_end = JavaEnd::default();
    let mut is_alone = false;
    while modules.iter().any(|module| !module.selected.is_empty()) && !options.cancel.is_cancelled() {
        let mut emit = |event: Event| {
            java_end.end.count(&event);
            events(event);
        };
        let batch = batch(tool, &modules, is_alone);
        let round = match tool.tool {
            Tool::Maven | Tool::Gradle => build_tool_round(tool, &batch, options, &mut emit)?,
            Tool::Console => console_round(tool, &batch, options, &mut emit)?,
        };
        let concluded = conclude(tool.tool, &batch, &round, options);
        let is_done = |test: &ClassTest| concluded.results.iter().any(|result| result.test == test.test);
        settle(&mut modules, is_done);
        let made_progress = !concluded.results.is_empty();
        concluded.results.into_iter().for_each(|result| emit(Event::TestFinished(result)));
        concluded.failures.into_iter().for_each(|failure| emit(Event::ProcessFailed(failure)));
        java_end.unexpected.extend(concluded.unexpected);
        java_end.notes.extend(concluded.notes);
        if round.stop == Some(Stop::Cancelled) {
            break;
        }
        // Together nothing is known of them: each for itself.
        let can_part = tool.tool == Tool::Console && !is_alone && !made_progress;
        is_alone |= can_part;
        if !(made_progress && concluded.was_cut_short || can_part || is_alone && made_progress) {
            for module in &mut modules {
                for test in std::mem::take(&mut module.selected) {
                    let result = left_over(&test, &round);
                    java_end.end.count(&Event::TestFinished(result.clone()));
                    events(Event::TestFinished(result));
                }
            }
        }
    }
    java_end.end.interrupted = java_end.end.tests() < requested;
    Ok(java_end)
}

/// What one round is to do: everything, one module of the console launcher, or one test of it.
fn batch(tool: &ToolCommand, modules: &[ModuleTests], is_alone: bool) -> Vec<ModuleTests> {
    let mut batch = modules.to_vec();
    if tool.tool == Tool::Console {
        let is_wanted = |module: &ModuleTests| !module.selected.is_empty();
        let first = batch.iter().position(is_wanted).unwrap_or(0);
        batch = batch.drain(first..=first).collect();
        if is_alone {
            batch.iter_mut().for_each(|module| module.selected.truncate(1));
        }
    }
    batch
}

/// What is done needs no further round.
fn settle(modules: &mut [ModuleTests], is_done: impl Fn(&ClassTest) -> bool) {
    for module in modules {
        let (done, open) = std::mem::take(&mut module.selected).into_iter().partition(&is_done);
        module.selected = open;
        module.others.extend::<Vec<ClassTest>>(done);
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
    let text = fs::read_to_string(&facts).unwrap_or_default();
    // What is left of a killed process is in nobody's way.
    let _ = fs::remove_file(&facts);
    let told =
        parse(&text).map_err(|error| JavaError::Facts { path: facts.clone(), reason: error.to_string() })?;
    let targets: BTreeMap<PathBuf, &str> =
        modules.iter().map(|module| (real(&module.directory), module.target.as_str())).collect();
    for fact in told {
        round.take(fact, &targets, since);
    }
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
    let reports_directory =
        tempfile::Builder::new().prefix("reports-").tempdir_in(&tool.workshop).map_err(failed)?;
    let [module] = modules else { unreachable!("the console launcher runs a module at a time") };
    let command = console::test_command(tool, module, reports_directory.path());
    let mut round = watched(tool, command, modules, options, events)?;
    let (reports, unreadable) = reports::read(reports_directory.path(), SystemTime::UNIX_EPOCH);
    let end = match (round.stop, round.exit) {
        (None, Exit::Code(0 | 1)) => ModuleEnd::Succeeded,
        (None, exit) => ModuleEnd::Failed { message: format!("the virtual machine {exit}") },
        (Some(_), _) => ModuleEnd::CutShort,
    };
    let has_unreadable = !unreadable.is_empty();
    round.notes.extend(unreadable);
    round.modules.insert(module.target.clone(), ModuleRound { end, reports, has_unreadable });
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
        running: watch.running.keys().cloned().collect(),
        overdue,
        modules: BTreeMap::new(),
        failures: Vec::new(),
        notes: Vec::new(),
    })
}

impl Round {
    fn take(&mut self, fact: Fact, targets: &BTreeMap<PathBuf, &str>, since: SystemTime) {
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
            Fact::Tests { end, directory, reports, message, .. } => {
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
                let (found, unreadable) = reports::read(&reports, since);
                module.reports.extend(found);
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
