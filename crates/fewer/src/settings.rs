//! `fewer.toml`: what the user tells about the project. Every key is optional, an unknown one is an error that
//! names file and line. What is found out when a key is missing is told elsewhere.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use fewer_core::TestId;
use fewer_core::plan::{FAILURE_MEMORY, Patterns};
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use crate::cli::{DependenciesName, LevelName, VirtualCallsName};
use crate::history::{FileRule, FilesTable};

pub const FILE_NAME: &str = "fewer.toml";

/// The settings of a project, read and compiled.
#[derive(Debug)]
pub struct Settings {
    pub build: Option<Build>,
    pub build_directory: Option<PathBuf>,
    pub configuration: Option<String>,
    pub working_directory: Option<PathBuf>,
    pub jobs: Option<NonZeroUsize>,
    pub test_timeout: Option<Duration>,
    pub always: Patterns,
    pub failure_memory: u32,
    pub variables: Vec<String>,
    /// The files that tests may read; `None` when the user does not say.
    pub data_files: Option<GlobSet>,
    pub exclude: GlobSet,
    /// Programs whose tests run in one process, with nothing beside.
    pub undivided: GlobSet,
    /// Which files are tests and what they depend on, for replays without a build.
    pub files: Option<FileRule>,
    pub cpp: CppSettings,
    pub cargo: CargoSettings,
    pub java: JavaSettings,
}

/// How a cargo project is built and tested.
#[derive(Clone, Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct CargoSettings {
    /// Given to every `cargo test`; `--workspace` where the user does not say.
    pub arguments: Option<Vec<String>>,
    /// What runs the tests of test programs.
    pub runner: Option<RunnerSetting>,
    /// What has a process of its own.
    pub processes: Option<ProcessesSetting>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessesSetting {
    /// Each test; each program where its tests were seen to need that.
    #[default]
    Auto,
    Test,
    Program,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum RunnerSetting {
    /// nextest where it is installed.
    #[default]
    Auto,
    Cargo,
    Nextest,
}

/// How C and C++ are looked at.
#[derive(Clone, Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct CppSettings {
    #[serde(rename = "virtual")]
    pub virtual_calls: Option<VirtualCallsName>,
}

/// How a Java project is compiled, tested and looked at.
#[derive(Clone, Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct JavaSettings {
    /// Found by the build files where the user does not say.
    pub tool: Option<ToolSetting>,
    /// How the tool is started.
    pub command: Option<PathBuf>,
    /// Given to every start of the tool.
    pub arguments: Vec<String>,
    /// For the console launcher: directories of classes, the rest of the class path, the launcher itself.
    pub classes: Vec<PathBuf>,
    pub test_classes: Vec<PathBuf>,
    pub class_path: Vec<PathBuf>,
    pub launcher: Option<PathBuf>,
    pub dependencies: Option<DependenciesName>,
    pub level: Option<LevelName>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSetting {
    Maven,
    Gradle,
    Console,
    /// The project is not to be looked at as Java.
    None,
}

/// The build command and where it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    pub command: String,
    pub directory: Option<PathBuf>,
}

/// The file, word by word.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Document {
    #[serde(deserialize_with = "build")]
    build: Option<Build>,
    build_directory: Option<PathBuf>,
    configuration: Option<String>,
    working_directory: Option<PathBuf>,
    jobs: Option<NonZeroUsize>,
    #[serde(deserialize_with = "time")]
    test_timeout: Option<Duration>,
    always: Vec<String>,
    failure_memory: Option<u32>,
    exclude: Vec<String>,
    undivided: Vec<String>,
    environment: EnvironmentTable,
    data: DataTable,
    files: Option<FilesTable>,
    cpp: CppSettings,
    #[serde(alias = "rust")]
    cargo: CargoSettings,
    java: JavaSettings,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct EnvironmentTable {
    variables: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct DataTable {
    files: Option<Vec<String>>,
}

impl Settings {
    /// Whether a test is to be left alone: its program, or by its id an entry of CTest that starts none.
    pub fn excludes(&self, id: &TestId) -> bool {
        self.exclude.is_match(&id.target) || self.exclude.is_match(id.to_string())
    }

    /// The settings of the project in a directory; the defaults where it has no `fewer.toml`.
    pub fn read(root: &Path) -> anyhow::Result<Settings> {
        let path = root.join(FILE_NAME);
        match fewer_files::read_to_string(&path) {
            Ok(text) => Settings::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Settings::none(),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Those of a project without a `fewer.toml`.
    pub fn none() -> anyhow::Result<Settings> {
        Settings::compile(Document::default())
    }

    fn parse(text: &str, path: &Path) -> anyhow::Result<Settings> {
        let document: Document = match toml::from_str(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
                let line = if error.span().is_some_and(|span| text[..span.start].ends_with('\n')) {
                    line + 1
                } else {
                    line
                };
                bail!("{}:{line}: {}", path.display(), error.message());
            }
        };
        Settings::compile(document).with_context(|| format!("in {}", path.display()))
    }

    fn compile(document: Document) -> anyhow::Result<Settings> {
        let always =
            Patterns::parse(&document.always).context("'always' holds a pattern that is not valid")?;
        Ok(Settings {
            build: document.build,
            build_directory: document.build_directory,
            configuration: document.configuration,
            working_directory: document.working_directory,
            jobs: document.jobs,
            test_timeout: document.test_timeout,
            always,
            failure_memory: document.failure_memory.unwrap_or(FAILURE_MEMORY),
            variables: document.environment.variables,
            data_files: document.data.files.map(|files| globs("data.files", &files)).transpose()?,
            exclude: globs("exclude", &document.exclude)?,
            undivided: globs("undivided", &document.undivided)?,
            files: document.files.as_ref().map(FileRule::compile).transpose()?,
            cpp: document.cpp,
            cargo: document.cargo,
            java: document.java,
        })
    }
}

/// Seconds, or a time like `90s`, `5m`, `1h 30m`, `30d`.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let refused = || format!("'{text}' is not a time: give seconds, or something like 90s, 5m, 2h, 30d");
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return positive(seconds).ok_or_else(refused);
    }
    let span: jiff::Span = text.trim().parse().map_err(|_| refused())?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| refused())?;
    Duration::try_from(duration).ok().filter(|duration| !duration.is_zero()).ok_or_else(refused)
}

fn positive(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}

fn globs(key: &str, patterns: &[String]) -> anyhow::Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).with_context(|| format!("'{key}' holds a pattern that is not valid"))?);
    }
    set.build().with_context(|| format!("'{key}' holds too many patterns"))
}

fn build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Build>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        command: String,
        directory: Option<PathBuf>,
    }
    struct BuildVisitor;
    impl<'de> Visitor<'de> for BuildVisitor {
        type Value = Build;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a command line, or a table with 'command' and 'directory'")
        }
        fn visit_str<E: de::Error>(self, command: &str) -> Result<Build, E> {
            Ok(Build { command: command.to_string(), directory: None })
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Build, A::Error> {
            let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
            Ok(Build { command: table.command, directory: table.directory })
        }
    }
    deserializer.deserialize_any(BuildVisitor).map(Some)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    struct TimeVisitor;
    impl Visitor<'_> for TimeVisitor {
        type Value = Duration;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("seconds, or a time like \"5m\"")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
            parse_time(text).map_err(E::custom)
        }
        fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Duration, E> {
            parse_time(&seconds.to_string()).map_err(E::custom)
        }
        fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Duration, E> {
            parse_time(&seconds.to_string()).map_err(E::custom)
        }
    }
    deserializer.deserialize_any(TimeVisitor).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<Settings> {
        Settings::parse(text, Path::new("fewer.toml"))
    }

    #[test]
    fn every_key_is_read() {
        let settings = parse(
            "build = { command = \"make\", directory = \"sub\" }\nbuild-directory = \"out\"\njobs = 3\n\
             test-timeout = \"5m\"\nalways = [\"Slow.*\"]\nfailure-memory = 2\nexclude = [\"tools/*\"]\n\
             configuration = \"Debug\"\nworking-directory = \".\"\n\
             [environment]\nvariables = [\"TZ\"]\n[data]\nfiles = [\"testdata/**\"]\n",
        )
        .unwrap();
        let build = settings.build.unwrap();
        assert_eq!((build.command.as_str(), build.directory), ("make", Some(PathBuf::from("sub"))));
        assert_eq!(settings.test_timeout, Some(Duration::from_secs(300)));
        assert_eq!((settings.jobs.unwrap().get(), settings.failure_memory), (3, 2));
        assert!(
            settings.exclude.is_match("tools/x") && settings.data_files.unwrap().is_match("testdata/a/b")
        );
        assert!(!settings.always.is_empty());
        let text = parse("build = \"cmake --build build\"\ntest-timeout = 90\n").unwrap();
        assert_eq!(text.build.unwrap().command, "cmake --build build");
        assert_eq!(text.test_timeout, Some(Duration::from_secs(90)));
    }

    #[test]
    fn a_wrong_key_or_value_is_refused_with_its_line() {
        for (text, line, word) in [
            ("jobs = 2\nbuidl = \"make\"\n", 2, "buidl"),
            ("\n\n[data]\nfile = []\n", 4, "file"),
            ("jobs = 0\n", 1, "zero"),
            ("test-timeout = \"soon\"\n", 1, "soon"),
            ("build = 7\n", 1, "command line"),
            ("jobs = \n", 1, ""),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("fewer.toml:{line}: ")), "{message}");
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn times_are_seconds_or_carry_a_unit() {
        for (text, seconds) in [("90", 90.0), ("0.5", 0.5), ("90s", 90.0), ("5m", 300.0), ("2d", 172_800.0)] {
            assert_eq!(parse_time(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        for text in ["", "0", "-1", "soon", "5 parsecs"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
