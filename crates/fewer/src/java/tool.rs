//! Which tool compiles and tests a Java project: as `fewer.toml` says, or told by the project's build files. Running
//! it is the runners' business.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fewer_runners::java::{Compilation, Layout, Tool, ToolCommand};

use crate::project::Project;
use crate::records::LAYOUT_FILE;
use crate::settings::ToolSetting;

const MAVEN_FILES: &[&str] = &["pom.xml"];
const GRADLE_FILES: &[&str] = &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
const LAUNCHER: &str = ".m2/repository/org/junit/platform/junit-platform-console-standalone";

/// The tool of the project; `None` if it is no Java project.
pub fn tool_of(project: &Project) -> Option<ToolCommand> {
    let settings = &project.settings.java;
    let has = |names: &[&str]| names.iter().any(|name| project.root.join(name).is_file());
    let tool = match settings.tool {
        Some(ToolSetting::Maven) => Tool::Maven,
        Some(ToolSetting::Gradle) => Tool::Gradle,
        Some(ToolSetting::Console) => Tool::Console,
        Some(ToolSetting::None) => return None,
        None if !settings.test_classes.is_empty() => Tool::Console,
        None if has(MAVEN_FILES) => Tool::Maven,
        None if has(GRADLE_FILES) => Tool::Gradle,
        None => return None,
    };
    Some(ToolCommand {
        tool,
        program: program(project, tool),
        arguments: settings.arguments.clone(),
        directory: project.root.clone(),
        workshop: workshop(project),
        launcher: (tool == Tool::Console).then(|| launcher(project)).flatten(),
    })
}

/// The layout that the tool told when it last compiled, kept for the next time. Gives whether it told any.
pub fn keep_layout(project: &Project, compilation: &Compilation) -> anyhow::Result<bool> {
    let path = layout_file(project);
    let known = Layout::read(&path, None).ok().flatten();
    let told = Layout::read(&compilation.facts, known)?.filter(|layout| !layout.modules.is_empty());
    if let Some(layout) = &told {
        // Another process may be reading it.
        let fresh = path.with_extension(format!("{}.new", std::process::id()));
        std::fs::write(&fresh, layout.facts())
            .and_then(|()| std::fs::rename(&fresh, &path))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    compilation.forget();
    Ok(told.is_some())
}

/// The layout as it was last told, or as the settings say.
pub fn layout(project: &Project, tool: &ToolCommand) -> anyhow::Result<Option<Layout>> {
    match tool.tool {
        Tool::Maven | Tool::Gradle => Ok(Layout::read(&layout_file(project), None)?),
        Tool::Console => Ok(Some(super::console::layout(project, tool)?)),
    }
}

/// Where the layout is kept.
pub fn layout_file(project: &Project) -> PathBuf {
    project.store_directory().join(LAYOUT_FILE)
}

/// Where the modules leave what they build, as far as is known.
pub fn build_directories(project: &Project) -> Vec<PathBuf> {
    let layout = tool_of(project).and_then(|tool| layout(project, &tool).ok().flatten()).unwrap_or_default();
    layout.modules.into_iter().map(|module| module.build_directory).collect()
}

pub fn workshop(project: &Project) -> PathBuf {
    project.store_directory().join("java")
}

fn program(project: &Project, tool: Tool) -> PathBuf {
    let (wrapper, usual) = match tool {
        Tool::Maven => ("mvnw", "mvn"),
        Tool::Gradle => ("gradlew", "gradle"),
        Tool::Console => ("", "java"),
    };
    let wrapper = project.root.join(wrapper);
    match &project.settings.java.command {
        Some(command) if command.components().count() > 1 => project.root.join(command),
        Some(command) => command.clone(),
        None if wrapper.is_file() => wrapper,
        None => match std::env::var_os("JAVA_HOME").filter(|_| tool == Tool::Console) {
            Some(home) => Path::new(&home).join("bin").join(usual),
            None => PathBuf::from(usual),
        },
    }
}

/// As the settings say, else the newest in Maven's local repository.
fn launcher(project: &Project) -> Option<PathBuf> {
    if let Some(launcher) = &project.settings.java.launcher {
        return Some(project.root.join(launcher));
    }
    let versions = Path::new(&std::env::var_os("HOME")?).join(LAUNCHER);
    let entries = std::fs::read_dir(versions).ok()?.flatten();
    let jars = entries.filter_map(|entry| {
        let version = entry.file_name().to_string_lossy().into_owned();
        let jar = entry.path().join(format!("junit-platform-console-standalone-{version}.jar"));
        let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
        jar.is_file().then_some((numbers, jar))
    });
    jars.max().map(|(_, jar)| jar)
}
