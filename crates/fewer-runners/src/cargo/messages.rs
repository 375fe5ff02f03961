//! What cargo tells of a build: test programs, libraries, programs that tests may start, and what build scripts set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::program::TestProgram;

/// What a build made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Artifacts {
    pub tests: Vec<TestTarget>,
    /// Archives that test programs may be linked from.
    pub libraries: BTreeSet<PathBuf>,
    /// Programs and shared libraries of the project, by name.
    pub programs: BTreeMap<String, PathBuf>,
    scripts: BTreeMap<String, Script>,
}

/// A program that holds tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestTarget {
    /// The target part of its tests' ids. Example: `core`, `core/contract`, `core/bin/tool`.
    pub name: String,
    pub executable: PathBuf,
    /// What cargo calls its package.
    pub package_id: String,
    pub package: String,
    /// What it may be taken for by other tools: kind and name. Example: `test`, `contract`.
    pub kind: String,
    pub target: String,
}

/// A package of the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    pub manifest_path: PathBuf,
    #[serde(default)]
    authors: Vec<String>,
    description: Option<String>,
    homepage: Option<String>,
    repository: Option<String>,
    license: Option<String>,
    license_file: Option<String>,
    rust_version: Option<String>,
    readme: Option<String>,
    targets: Vec<Target>,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
    #[serde(default)]
    doctest: bool,
    src_path: PathBuf,
}

/// What a build script set for its package.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
struct Script {
    #[serde(default)]
    linked_paths: Vec<String>,
    #[serde(default)]
    env: Vec<(String, String)>,
    #[serde(default)]
    out_dir: String,
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact(Artifact),
    BuildScriptExecuted {
        package_id: String,
        #[serde(flatten)]
        script: Script,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    target: Target,
    profile: Profile,
    filenames: Vec<PathBuf>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Whether a line of cargo's output is for programs.
pub fn is_message(line: &str) -> bool {
    line.starts_with("{\"reason\":")
}

pub(super) fn packages(answer: &str) -> Result<Vec<Package>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    serde_json::from_str::<Metadata>(answer).map(|metadata| metadata.packages)
}

impl Artifacts {
    /// What the lines tell that cargo printed.
    pub fn read<'l>(
        lines: impl Iterator<Item = &'l str>,
        packages: &[Package],
    ) -> Result<Artifacts, serde_json::Error> {
        let mut artifacts = Artifacts::default();
        for line in lines.filter(|line| is_message(line)) {
            match serde_json::from_str(line)? {
                Message::CompilerArtifact(artifact) => artifacts.take(artifact, packages),
                Message::BuildScriptExecuted { package_id, script } => {
                    artifacts.scripts.insert(package_id, script);
                }
                Message::Other => {}
            }
        }
        artifacts.tests.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(artifacts)
    }

    fn take(&mut self, artifact: Artifact, packages: &[Package]) {
        let package = packages.iter().find(|package| package.id == artifact.package_id);
        let has_ending = |path: &&PathBuf, wanted: &str| path.extension().is_some_and(|end| end == wanted);
        let libraries = artifact.filenames.iter();
        self.libraries.extend(libraries.filter(|path| has_ending(path, "rlib")).cloned());
        let (Some(package), Some(kind)) = (package, artifact.target.kind.first()) else { return };
        let name = &artifact.target.name;
        match &artifact.executable {
            Some(executable) if artifact.profile.test => self.tests.push(TestTarget {
                name: target_name(&package.name, kind, name),
                executable: executable.clone(),
                package_id: package.id.clone(),
                package: package.name.clone(),
                kind: kind.clone(),
                target: name.clone(),
            }),
            Some(executable) if kind != "custom-build" => {
                self.programs.insert(format!("{}/{kind}/{name} (program)", package.name), executable.clone());
            }
            Some(_) => {}
            None if kind == "proc-macro" => {}
            None => {
                let shared = artifact.filenames.iter().find(|path| has_ending(path, "so"));
                let shared = shared.map(|path| (format!("{}/{kind}/{name}", package.name), path.clone()));
                self.programs.extend(shared);
            }
        }
    }

    /// A test program with the surroundings that `cargo test` gives it.
    pub fn program(&self, test: &TestTarget, package: &Package, libraries: &Path) -> TestProgram {
        let directory = package.directory();
        let mut program = TestProgram::new(&test.name, &test.executable, directory);
        let mut environment = package.environment();
        let own = test.executable.parent().unwrap_or(directory);
        let mut library_path: Vec<PathBuf> = Vec::new();
        for (package_id, script) in &self.scripts {
            let paths = script.linked_paths.iter();
            library_path.extend(
                paths.map(|path| path.split_once('=').map_or(path.as_str(), |(_, path)| path).into()),
            );
            if *package_id == test.package_id {
                environment.extend(script.env.iter().cloned());
                environment.push(("OUT_DIR".to_string(), script.out_dir.clone()));
            }
        }
        library_path.extend([own.to_path_buf(), own.join(".."), libraries.to_path_buf()]);
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        library_path.extend(std::env::split_paths(&inherited).filter(|path| !path.as_os_str().is_empty()));
        if let Ok(joined) = std::env::join_paths(library_path) {
            environment.push(("LD_LIBRARY_PATH".to_string(), joined.to_string_lossy().into_owned()));
        }
        program.environment = environment;
        program
    }
}

impl Package {
    pub fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    /// The source of the library, if it may have documentation tests.
    pub fn documented_library(&self) -> Option<&Path> {
        let is_library = |target: &&Target| {
            target.doctest && target.kind.iter().any(|kind| kind.ends_with("lib") || kind == "proc-macro")
        };
        self.targets.iter().find(is_library).map(|target| target.src_path.as_path())
    }

    fn environment(&self) -> Vec<(String, String)> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let (number, pre) = self.version.split_once('-').unwrap_or((&self.version, ""));
        let number = number.split('+').next().unwrap_or(number);
        let mut numbers = number.split('.');
        let mut part = || numbers.next().unwrap_or("0").to_string();
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let variables = [
            ("CARGO_MANIFEST_DIR", path(self.directory())),
            ("CARGO_MANIFEST_PATH", path(&self.manifest_path)),
            ("CARGO_PKG_NAME", self.name.clone()),
            ("CARGO_PKG_VERSION", self.version.clone()),
            ("CARGO_PKG_VERSION_MAJOR", part()),
            ("CARGO_PKG_VERSION_MINOR", part()),
            ("CARGO_PKG_VERSION_PATCH", part()),
            ("CARGO_PKG_VERSION_PRE", pre.split('+').next().unwrap_or(pre).to_string()),
            ("CARGO_PKG_AUTHORS", self.authors.join(":")),
            ("CARGO_PKG_DESCRIPTION", text(&self.description)),
            ("CARGO_PKG_HOMEPAGE", text(&self.homepage)),
            ("CARGO_PKG_REPOSITORY", text(&self.repository)),
            ("CARGO_PKG_LICENSE", text(&self.license)),
            ("CARGO_PKG_LICENSE_FILE", text(&self.license_file)),
            ("CARGO_PKG_RUST_VERSION", text(&self.rust_version)),
            ("CARGO_PKG_README", text(&self.readme)),
        ];
        variables.map(|(name, value)| (name.to_string(), value)).to_vec()
    }
}

/// The library's own tests go by the name of the package.
fn target_name(package: &str, kind: &str, name: &str) -> String {
    match kind {
        "test" => format!("{package}/{name}"),
        "bin" | "example" | "bench" => format!("{package}/{kind}/{name}"),
        _ => package.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_target_has_a_name_of_its_own() {
        let names = ["lib", "test", "bin"].map(|kind| target_name("core", kind, "core"));
        assert_eq!(names, ["core", "core/core", "core/bin/core"]);
    }

    #[test]
    fn messages_tell_test_programs_from_others() {
        let packages = packages(
            r#"{"packages": [{"id": "p#1", "name": "p", "version": "1.2.3-rc.1", "manifest_path": "/w/p/Cargo.toml",
                "targets": []}]}"#,
        )
        .unwrap();
        let artifact = |kind: &str, test: bool, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"p#1","target":{{"kind":["{kind}"],"name":"t","src_path":"x"}},"profile":{{"test":{test}}},"filenames":["{file}"],"executable":{}}}"#,
                if file.ends_with("rlib") { "null".to_string() } else { format!("\"{file}\"") }
            )
        };
        let lines = [
            artifact("lib", false, "/w/libt.rlib"),
            artifact("test", true, "/w/t-1"),
            artifact("bin", false, "/w/t"),
            "   Compiling p".to_string(),
            r#"{"reason":"build-script-executed","package_id":"p#1","linked_paths":["native=/w/n"],"env":[["A","b"]],"out_dir":"/w/out"}"#.to_string(),
            r#"{"reason":"build-finished","success":true}"#.to_string(),
        ];
        let artifacts = Artifacts::read(lines.iter().map(String::as_str), &packages).unwrap();
        assert_eq!(artifacts.libraries.len(), 1);
        assert_eq!(artifacts.programs.keys().collect::<Vec<_>>(), ["p/bin/t (program)"]);
        assert_eq!(artifacts.tests[0].name, "p/t");
        let program = artifacts.program(&artifacts.tests[0], &packages[0], Path::new("/rust"));
        let value =
            |name: &str| program.environment.iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!((value("A"), value("OUT_DIR")), ("b".to_string(), "/w/out".to_string()));
        assert_eq!(
            (value("CARGO_PKG_VERSION_PATCH"), value("CARGO_PKG_VERSION_PRE")),
            ("3".into(), "rc.1".into())
        );
        assert!(value("LD_LIBRARY_PATH").starts_with("/w/n:/w:/w/..:/rust"));
        assert_eq!(program.working_directory, Path::new("/w/p"));
    }
}
