//! A plain class path, as `fewer.toml` describes it, in the form in which build tools tell of their modules.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use fewer_runners::java::{Dependency, Layout, Module, ToolCommand};

use crate::project::Project;
use crate::settings::FILE_NAME;

/// The one module of a project without a build tool. Which Java runs its tests is not told here.
pub fn layout(project: &Project, tool: &ToolCommand) -> anyhow::Result<Layout> {
    let settings = &project.settings.java;
    if settings.test_classes.is_empty() {
        bail!("java.test-classes in {FILE_NAME} must name the directories with the compiled tests");
    }
    let Some(launcher) = tool.launcher.clone().filter(|launcher| launcher.is_file()) else {
        bail!(
            "JUnit's console launcher was not found: name the jar (junit-platform-console-standalone) as java.launcher in \
             {FILE_NAME}, or fetch it into Maven's local repository"
        );
    };
    let below = |paths: &[PathBuf]| paths.iter().map(|path| project.root.join(path)).collect::<Vec<_>>();
    let mut jars = vec![launcher];
    for path in below(&settings.class_path) {
        jars.extend(expanded(&path)?);
    }
    let test_classes = below(&settings.test_classes);
    let module = Module {
        directory: project.root.clone(),
        build_directory: common(&test_classes),
        classes: below(&settings.classes),
        test_classes,
        sources: Vec::new(),
        resources: Vec::new(),
        dependencies: jars.into_iter().map(dependency).collect(),
        task: None,
        goals: Vec::new(),
        has_excludes: false,
    };
    Ok(Layout { java: String::new(), not_run: Vec::new(), modules: vec![module] })
}

/// `lib/*` and `lib/*.jar` as the jars of the directory, anything else as it is.
fn expanded(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.to_string_lossy().contains('*') {
        return Ok(vec![path.to_path_buf()]);
    }
    let directory = path.parent().unwrap_or(path);
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot read {}, which java.class-path names", directory.display()))?;
    let jars = entries.flatten().map(|entry| entry.path());
    let mut jars: Vec<PathBuf> =
        jars.filter(|path| path.extension().is_some_and(|end| end == "jar")).collect();
    jars.sort();
    Ok(jars)
}

fn dependency(path: PathBuf) -> Dependency {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Dependency { name, version: String::new(), path }
}

/// The directory that the tests' classes are in: nothing in it is a source.
fn common(directories: &[PathBuf]) -> PathBuf {
    directories.first().cloned().unwrap_or_default()
}

/// Vendor and version of the virtual machine, asked for.
pub fn java(tool: &ToolCommand) -> anyhow::Result<String> {
    let output = Command::new(&tool.program).arg("-version").output().with_context(|| {
        format!(
            "cannot start {}: install Java, or name it: java.command in {FILE_NAME}",
            tool.program.display()
        )
    })?;
    Ok(String::from_utf8_lossy(&output.stderr).lines().collect::<Vec<_>>().join(" "))
}
