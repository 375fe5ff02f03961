//! Maven: an event spy that tells of modules and test runs, compiled once against the Maven at hand; compiling through
//! the lifecycle, and running tests, with the spy taking out what need not run. No POM is changed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fewer_core::digest::{Digest, Domain};
use fewer_lifetime::HeldDirectory;

use super::{Compilation, JavaError, ModuleTests, ToolCommand};
use crate::Cancel;
use crate::build::{self, BuildCommand};

const SPY: &str = include_str!("FewerSpy.java");
const SPY_SOURCE: Domain = Domain::new("java.maven.spy");
/// Where the spy is found by Maven's container.
const INDEX: &str = "META-INF/sisu/javax.inject.Named";

/// Does everything that comes before the phase `test`, so that what is analysed is what the tests will see.
pub(super) fn compilation(tool: &ToolCommand, cancel: &Cancel) -> Result<Compilation, JavaError> {
    let extension = extension(tool, cancel)?;
    let facts = tool.provide("compiled.jsonl", "")?;
    let words = [tool.program.as_os_str(), "-q".as_ref(), "-B".as_ref(), "process-test-classes".as_ref()];
    let words = words.into_iter().map(OsString::from).chain(tool.arguments.iter().map(OsString::from));
    let command = BuildCommand::Arguments(words.collect());
    Ok(Compilation { command, environment: environment(tool, &extension, &facts), facts })
}

/// Runs the selected tests of some modules, and the phase `test` of those that do more in it, with those that they are
/// built from.
pub(super) fn test_command(
    tool: &ToolCommand,
    modules: &[ModuleTests],
    facts: &Path,
    cancel: &Cancel,
) -> Result<Command, JavaError> {
    let extension = extension(tool, cancel)?;
    let selection = tool.provide("selection", &selection(modules))?;
    let mut command = Command::new(&tool.program);
    command.current_dir(&tool.directory).envs(environment(tool, &extension, facts));
    // A failed module must not keep those that depend on it from running.
    command.args(["-B", "--fail-never", "test"]);
    command.env("FEWER_SELECTION", selection);
    let wanted: Vec<&str> =
        modules.iter().filter(|module| module.is_due()).map(|module| module.target.as_str()).collect();
    let is_chosen_by_user = tool.arguments.iter().any(|argument| {
        ["-pl", "--projects", "-rf", "--resume-from"].iter().any(|option| argument.starts_with(option))
    });
    if wanted.len() < modules.len() && !is_chosen_by_user {
        command.args(["-pl", &wanted.join(","), "-am"]);
    }
    command.args(&tool.arguments);
    Ok(command)
}

/// Per line a module's directory, a tab, and a class that need not run there; none for a module of which no test need.
fn selection(modules: &[ModuleTests]) -> String {
    let mut lines = String::new();
    for module in modules.iter().filter(|module| !module.others.is_empty()) {
        let wanted: BTreeSet<&String> = module.selected.iter().flat_map(|test| &test.classes).collect();
        let others = module.others.iter().flat_map(|test| &test.classes);
        let mut left: BTreeSet<&str> =
            others.filter(|class| !wanted.contains(class)).map(String::as_str).collect();
        if wanted.is_empty() {
            left = BTreeSet::from([""]);
        }
        lines.extend(left.iter().map(|class| format!("{}\t{class}\n", module.directory.display())));
    }
    lines
}

/// An excludes file, for those who start Maven themselves: the classes that need not run with what is nested in them, and
/// what is nested in the others, which Surefire leaves out by itself as long as nothing else is excluded, neither by the
/// build nor by this file. One file serves all modules, so a class that is wanted in one of them is not in it.
pub fn surefire_excludes(modules: &[ModuleTests]) -> String {
    let wanted: BTreeSet<&String> =
        modules.iter().flat_map(|module| &module.selected).flat_map(|test| &test.classes).collect();
    let others: BTreeSet<&String> =
        modules.iter().flat_map(|module| &module.others).flat_map(|test| &test.classes).collect();
    let file = |class: &String| class.replace('.', "/");
    let left = others.difference(&wanted).map(|class| file(class));
    let mut patterns: BTreeSet<String> =
        left.flat_map(|class| [format!("{class}.java"), format!("{class}$*.java")]).collect();
    if !patterns.is_empty() {
        let usual = modules.iter().filter(|module| !module.has_excludes);
        let own: BTreeSet<&String> = modules
            .iter()
            .filter(|module| module.has_excludes)
            .flat_map(|module| &module.selected)
            .flat_map(|test| &test.classes)
            .collect();
        let classes = usual.flat_map(|module| &module.selected).flat_map(|test| &test.classes);
        let nested = classes.filter(|class| !own.contains(class));
        patterns.extend(nested.map(|class| format!("{}$*.java", file(class))));
    }
    patterns.into_iter().map(|pattern| pattern + "\n").collect()
}

fn environment(tool: &ToolCommand, extension: &Path, facts: &Path) -> Vec<(String, OsString)> {
    let mut options = std::env::var_os("MAVEN_OPTS").unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push("-Dmaven.ext.class.path=");
    options.push(as_option(extension, &tool.directory));
    vec![("MAVEN_OPTS".to_string(), options), ("FEWER_EVENTS".to_string(), facts.into())]
}

/// A path as a part of `MAVEN_OPTS`, which Maven's script splits at blanks and does not unquote, or has a shell evaluate,
/// and of a class path, which is split at colons. Where the project's own path does not stand that, Maven is given the
/// path from there, where it is started.
fn as_option<'p>(path: &'p Path, started_in: &Path) -> &'p Path {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    match path.to_str() {
        Some(text) if text.chars().all(is_plain) => path,
        Some(_) | None => path.strip_prefix(started_in).unwrap_or(path),
    }
}

/// The directory with the compiled spy.
fn extension(tool: &ToolCommand, cancel: &Cancel) -> Result<PathBuf, JavaError> {
    let directory = tool.workshop.join(format!("maven-{}", Digest::of(SPY_SOURCE, SPY.as_bytes())));
    if directory.join(INDEX).is_file() {
        return Ok(directory);
    }
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| JavaError::Workshop { path, source }
    };
    fs::create_dir_all(&tool.workshop).map_err(failed(&tool.workshop))?;
    let made = HeldDirectory::new_in(&tool.workshop, "making-").map_err(failed(&tool.workshop))?;
    compile(tool, made.path(), cancel)?;
    let index = made.path().join(INDEX);
    fs::create_dir_all(index.parent().unwrap_or(&index)).map_err(failed(&index))?;
    fs::write(&index, "fewer.FewerSpy\n").map_err(failed(&index))?;
    match fs::rename(made.path(), &directory) {
        Ok(()) => {}
        // Another process was faster.
        Err(_) if directory.join(INDEX).is_file() => {}
        Err(source) => return Err(JavaError::Workshop { path: directory, source }),
    }
    Ok(directory)
}

fn compile(tool: &ToolCommand, into: &Path, cancel: &Cancel) -> Result<(), JavaError> {
    let home = Home::ask(tool, cancel)?;
    let source = into.join("FewerSpy.java");
    fs::write(&source, SPY).map_err(|error| JavaError::Workshop { path: source.clone(), source: error })?;
    let class_path = home.maven.join("lib").join("*");
    let javac = home.javac();
    let compile = |options: &[&str]| {
        let mut words: Vec<OsString> = vec![javac.clone().into()];
        words.extend(options.iter().map(OsString::from));
        words.extend(["-nowarn", "-proc:none", "-d"].map(OsString::from));
        words.extend([into.into(), "-cp".into(), class_path.clone().into(), source.clone().into()]);
        spoken(words, &tool.directory, cancel)
    };
    // So that it can be loaded by any virtual machine that Maven may be started with; Java 8 does not know the option.
    let (success, output) = compile(&["--release", "8"])?;
    if !success {
        let (success, _) = compile(&[])?;
        if !success {
            return Err(JavaError::Extension { output });
        }
    }
    Ok(())
}

/// Where Maven and its JDK are.
struct Home {
    maven: PathBuf,
    java: PathBuf,
}

impl Home {
    fn ask(tool: &ToolCommand, cancel: &Cancel) -> Result<Home, JavaError> {
        let words: Vec<OsString> = vec![tool.program.clone().into(), "-B".into(), "--version".into()];
        let command = format!("{} --version", tool.program.display());
        let (_, output) = spoken(words, &tool.directory, cancel)?;
        Home::parse(&output).ok_or(JavaError::NoMavenHome { command, output })
    }

    fn parse(output: &str) -> Option<Home> {
        let after = |word: &str| {
            output
                .lines()
                .find_map(|line| Some(PathBuf::from(line.split_once(word)?.1.split(',').next()?.trim())))
        };
        Some(Home {
            maven: after("Maven home: ")?,
            java: after("runtime: ").or_else(|| after("Java home: "))?,
        })
    }

    fn javac(&self) -> PathBuf {
        let places = [Some(self.java.as_path()), self.java.parent()];
        let candidates = places.into_iter().flatten().map(|home| home.join("bin").join("javac"));
        candidates.into_iter().find(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("javac"))
    }
}

/// Whether a program succeeded, and what it printed.
fn spoken(words: Vec<OsString>, directory: &Path, cancel: &Cancel) -> Result<(bool, String), JavaError> {
    let program = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let end = build::run(&BuildCommand::Arguments(words), directory, &[], cancel, &mut |_| {})
        .map_err(|error| JavaError::Start { program, source: error.source })?;
    if end.interrupted { Err(JavaError::Interrupted) } else { Ok((end.success, end.output_tail)) }
}

#[cfg(test)]
mod tests {
    use fewer_core::test_id::TestId;

    use super::*;
    use crate::java::ClassTest;

    #[test]
    fn maven_tells_where_it_and_its_jdk_are() {
        for output in [
            "Apache Maven 3.8.7\nMaven home: /usr/share/maven\nJava version: 17.0.15, vendor: Debian, runtime: /usr/lib/jvm/17\n",
            "Maven home: /usr/share/maven\nJava version: 1.8.0\nJava home: /usr/lib/jvm/17\n",
        ] {
            let home = Home::parse(output).unwrap();
            assert_eq!((home.maven, home.java), ("/usr/share/maven".into(), "/usr/lib/jvm/17".into()));
        }
        assert!(Home::parse("mvn: command not found").is_none());
    }

    #[test]
    fn a_path_that_a_shell_would_take_apart_is_given_from_where_maven_starts() {
        for (project, expected) in [
            ("/home/me/my-project", "/home/me/my-project/.fewer/java/spy"),
            ("/home/me/my project", ".fewer/java/spy"),
            ("/home/me/$it's", ".fewer/java/spy"),
            ("/home/me/a:b", ".fewer/java/spy"),
            ("/home/me/für", ".fewer/java/spy"),
        ] {
            let project = Path::new(project);
            assert_eq!(as_option(&project.join(".fewer/java/spy"), project), Path::new(expected));
        }
    }

    #[test]
    fn a_class_that_is_wanted_in_one_module_is_excluded_in_none() {
        let test = |target: &str, class: &str| ClassTest {
            test: TestId::new(target, class),
            classes: vec![class.to_string()],
            bases: Vec::new(),
        };
        let module = |target: &str, selected: Vec<ClassTest>, others: Vec<ClassTest>| ModuleTests {
            target: target.into(),
            directory: PathBuf::from(format!("/p/{target}")),
            task: None,
            class_path: Vec::new(),
            selected,
            others,
            goals: Vec::new(),
            has_excludes: target == "b",
        };
        let modules = [
            module("a", vec![test("a", "p.ATest")], vec![test("a", "p.CTest")]),
            module("b", vec![], vec![test("b", "p.ATest"), test("b", "BTest")]),
        ];
        let expected = "BTest$*.java\nBTest.java\np/ATest$*.java\np/CTest$*.java\np/CTest.java\n";
        assert_eq!(surefire_excludes(&modules), expected);
        let with_own = [module("b", vec![test("b", "p.DTest")], vec![test("b", "BTest")])];
        assert_eq!(
            surefire_excludes(&with_own),
            "BTest$*.java\nBTest.java\n",
            "what is nested in DTest runs"
        );
        assert_eq!(
            surefire_excludes(&[module("a", vec![test("a", "p.ATest")], vec![])]),
            "",
            "nothing to add"
        );
        assert_eq!(selection(&modules), "/p/a\tp.CTest\n/p/b\t\n", "the spy tells modules apart");
    }
}
