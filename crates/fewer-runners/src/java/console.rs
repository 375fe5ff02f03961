//! JUnit's console launcher on a plain class path: one virtual machine per module, or one per class where several
//! together did not end well.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::{ModuleTests, ToolCommand};

/// Runs the selected tests of one module.
pub(super) fn test_command(tool: &ToolCommand, module: &ModuleTests, reports: &Path) -> Command {
    let mut command = Command::new(&tool.program);
    command.current_dir(&module.directory).args(&tool.arguments);
    let class_path = std::env::join_paths(&module.class_path).unwrap_or_else(|_| OsString::new());
    let launcher = tool.launcher.as_deref().unwrap_or(Path::new("junit-platform-console-standalone.jar"));
    command.arg("-jar").arg(launcher);
    if knows_subcommands(launcher) {
        command.arg("execute");
    }
    command
        .args(["--disable-banner", "--disable-ansi-colors", "--details=none", "--class-path"])
        .arg(class_path);
    command.arg("--reports-dir").arg(reports);
    let classes = module.selected.iter().flat_map(|test| &test.classes);
    command.args(classes.map(|class| format!("--select-class={class}")));
    command
}

/// From 1.10 on, told by the name of the jar.
fn knows_subcommands(launcher: &Path) -> bool {
    let name = launcher.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let Some((_, version)) = name.rsplit_once("standalone-") else { return true };
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    !matches!((numbers.next(), numbers.next()), (Some(1), Some(minor)) if minor < 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_launchers_know_no_subcommands() {
        for (name, expected) in [
            ("junit-platform-console-standalone-1.9.3.jar", false),
            ("junit-platform-console-standalone-1.10.2.jar", true),
            ("junit-platform-console-standalone-6.0.0.jar", true),
            ("launcher.jar", true),
        ] {
            assert_eq!(knows_subcommands(Path::new(name)), expected, "{name}");
        }
    }
}
