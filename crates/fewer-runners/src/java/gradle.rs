//! Gradle: an init script that tells of modules and test runs and leaves out the classes that need not run. No build
//! file is changed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::{Compilation, JavaError, ModuleTests, ToolCommand};
use crate::build::BuildCommand;

const INIT_SCRIPT: &str = include_str!("fewer.init.gradle");

/// The script's task compiles all tests and tells the layout.
pub(super) fn compilation(tool: &ToolCommand) -> Result<Compilation, JavaError> {
    let facts = tool.provide("compiled.jsonl", "")?;
    let mut words: Vec<OsString> = vec![tool.program.clone().into(), "-q".into()];
    words.extend(options(tool, &facts)?);
    words.push("fewerLayout".into());
    words.extend(tool.arguments.iter().map(OsString::from));
    Ok(Compilation { command: BuildCommand::Arguments(words), environment: Vec::new(), facts })
}

/// Runs the test tasks of the modules with selected tests.
pub(super) fn test_command(
    tool: &ToolCommand,
    modules: &[ModuleTests],
    facts: &Path,
) -> Result<Command, JavaError> {
    let mut command = Command::new(&tool.program);
    command.current_dir(&tool.directory).args(options(tool, facts)?);
    let excludes = tool.provide("excludes", &excludes(modules))?;
    command.arg(property("fewer.excludes", &excludes));
    command.arg("--continue");
    let wanted = modules.iter().filter(|module| module.is_due());
    command.args(wanted.filter_map(|module| module.task.as_ref()));
    command.args(&tool.arguments);
    Ok(command)
}

/// Per module the classes that need not run: the task, a tab, the class.
fn excludes(modules: &[ModuleTests]) -> String {
    let mut lines = BTreeSet::new();
    for module in modules {
        let task = module.task.as_deref().unwrap_or_default();
        let classes = module.others.iter().flat_map(|test| &test.classes);
        lines.extend(classes.map(|class| format!("{task}\t{}\n", class.replace('.', "/"))));
    }
    lines.into_iter().collect()
}

fn options(tool: &ToolCommand, facts: &Path) -> Result<Vec<OsString>, JavaError> {
    let script = tool.provide("fewer.init.gradle", INIT_SCRIPT)?;
    // The script looks at tasks while they run, which no kept configuration allows.
    let off = ["org.gradle.configuration-cache", "org.gradle.unsafe.configuration-cache"];
    let mut options: Vec<OsString> = vec![
        "--console=plain".into(),
        "--init-script".into(),
        script.into(),
        property("fewer.events", facts),
    ];
    options.extend(off.map(|name| OsString::from(format!("-D{name}=false"))));
    Ok(options)
}

fn property(name: &str, value: &Path) -> OsString {
    let mut text = OsString::from(format!("-D{name}="));
    text.push(value);
    text
}
