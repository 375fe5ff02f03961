//! What cargo tells of a build: test programs, libraries, programs that tests may start, and what build scripts set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::configuration::Configuration;
use crate::program::TestProgram;

/// What a build made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Artifacts {
    pub tests: Vec<TestTarget>,
    /// Archives that test programs may be linked from.
    pub libraries: BTreeSet<PathBuf>,
    /// Programs and shared libraries of the project, by name.
    pub programs: BTreeMap<String, PathBuf>,
    /// Test programs of packages that are not of the workspace, or of a workspace elsewhere.
    pub strangers: Vec<PathBuf>,
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

/// The packages of a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Packages {
    pub packages: Vec<Package>,
    /// The ids of those that cargo tests when it is not told which.
    #[serde(default, rename = "workspace_default_members")]
    pub default_members: Vec<String>,
}

/// A package of the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    #[serde(default)]
    features: BTreeMap<String, Vec<String>>,
    targets: Vec<Target>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
    #[serde(default)]
    doctest: bool,
    #[serde(default)]
    test: bool,
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

pub(super) fn packages(answer: &str) -> Result<Packages, serde_json::Error> {
    serde_json::from_str(answer)
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
        if package.is_none() && artifact.profile.test {
            self.strangers.extend(artifact.executable.clone());
        }
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
                self.programs.insert(program_name(&package.name, kind, name), executable.clone());
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

    /// What tests of a package find in their environment, but for places of this machine.
    pub fn variables(&self, package: &Package) -> Vec<(String, String)> {
        let mut variables = package.variables();
        variables.extend(self.script_of(package).into_iter().flat_map(|script| script.env.iter().cloned()));
        variables
    }

    /// Where the build script of a package wrote to.
    pub fn script_output(&self, package: &Package) -> Option<&Path> {
        self.script_of(package).map(|script| Path::new(&script.out_dir))
    }

    /// By the variables that cargo sets for integration tests: the programs of their package.
    fn programs_for(&self, test: &TestTarget, package: &Package) -> Vec<(String, String)> {
        let is_integration = test.kind == "test" || test.kind == "bench";
        let own = package.targets.iter().filter(|target| is_integration && target.is("bin"));
        let named = own.filter_map(|target| {
            let program = self.programs.get(&program_name(&package.name, "bin", &target.name))?;
            Some((format!("CARGO_BIN_EXE_{}", target.name), program.to_string_lossy().into_owned()))
        });
        named.collect()
    }

    fn script_of(&self, package: &Package) -> Option<&Script> {
        self.scripts.get(&package.id)
    }

    /// A test program with the surroundings that `cargo test` gives it.
    pub fn program(
        &self,
        test: &TestTarget,
        package: &Package,
        libraries: &Path,
        configuration: &Configuration,
    ) -> TestProgram {
        let directory = package.directory();
        let mut program = TestProgram::new(&test.name, &test.executable, directory);
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let mut environment = self.variables(package);
        environment.push(("CARGO_MANIFEST_DIR".to_string(), path(directory)));
        environment.push(("CARGO_MANIFEST_PATH".to_string(), path(&package.manifest_path)));
        let output = self.script_output(package);
        environment.extend(output.map(|output| ("OUT_DIR".to_string(), path(output))));
        environment.extend(self.programs_for(test, package));
        // The compiler's libraries are in `lib/rustlib/TARGET/lib` below the directory of the toolchain.
        let cargo = libraries.ancestors().nth(4).map(|toolchain| toolchain.join("bin/cargo"));
        environment
            .extend(cargo.filter(|cargo| cargo.is_file()).map(|cargo| ("CARGO".to_string(), path(&cargo))));
        let own = test.executable.parent().unwrap_or(directory);
        let mut library_path: Vec<PathBuf> = Vec::new();
        for script in self.scripts.values() {
            let paths = script.linked_paths.iter();
            library_path.extend(
                paths.map(|path| path.split_once('=').map_or(path.as_str(), |(_, path)| path).into()),
            );
        }
        library_path.extend([own.to_path_buf(), own.join(".."), libraries.to_path_buf()]);
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        library_path.extend(std::env::split_paths(&inherited).filter(|path| !path.as_os_str().is_empty()));
        if let Ok(joined) = std::env::join_paths(library_path) {
            environment.push(("LD_LIBRARY_PATH".to_string(), joined.to_string_lossy().into_owned()));
        }
        let is_set = |name: &str| environment.iter().any(|(known, _)| known == name);
        let configured: Vec<(String, String)> =
            configuration.environment.iter().filter(|(name, _)| !is_set(name)).cloned().collect();
        environment.extend(configured);
        program.environment = environment;
        program.launcher = configuration.runner.clone();
        program
    }
}

impl Package {
    pub fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }

    pub(super) fn has_feature(&self, name: &str) -> bool {
        self.features.contains_key(name)
    }

    /// How many programs `cargo test` makes of it.
    pub fn test_targets(&self) -> usize {
        self.targets.iter().filter(|target| target.test).count()
    }

    /// The source of the library, if it may have documentation tests.
    pub fn documented_library(&self) -> Option<&Path> {
        let is_library = |target: &&Target| {
            target.doctest && target.kind.iter().any(|kind| kind.ends_with("lib") || kind == "proc-macro")
        };
        self.targets.iter().find(is_library).map(|target| target.src_path.as_path())
    }

    fn variables(&self) -> Vec<(String, String)> {
        let (number, pre) = self.version.split_once('-').unwrap_or((&self.version, ""));
        let number = number.split('+').next().unwrap_or(number);
        let mut numbers = number.split('.');
        let mut part = || numbers.next().unwrap_or("0").to_string();
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let variables = [
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

impl Target {
    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|own| own == kind)
    }
}

/// What a program is called that tests may start. Example: `core/bin/tool (program)`.
fn program_name(package: &str, kind: &str, name: &str) -> String {
    format!("{package}/{kind}/{name} (program)")
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
                "targets": [{"kind": ["bin"], "name": "t", "src_path": "x"}]}]}"#,
        )
        .unwrap()
        .packages;
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
        let elsewhere = Artifacts::read(lines.iter().map(String::as_str), &[]).unwrap();
        assert_eq!((elsewhere.tests.len(), elsewhere.strangers), (0, vec![PathBuf::from("/w/t-1")]));
        let variables = [("A", "other"), ("B", "c")];
        let configuration = Configuration {
            environment: variables.map(|(name, value)| (name.to_string(), value.to_string())).to_vec(),
            runner: vec!["sh".to_string()],
            ..Configuration::default()
        };
        let program =
            artifacts.program(&artifacts.tests[0], &packages[0], Path::new("/rust"), &configuration);
        let value =
            |name: &str| program.environment.iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!((value("A"), value("OUT_DIR")), ("b".to_string(), "/w/out".to_string()));
        assert_eq!((value("B"), program.launcher.as_slice()), ("c".to_string(), &["sh".to_string()][..]));
        assert_eq!(
            (value("CARGO_PKG_VERSION_PATCH"), value("CARGO_PKG_VERSION_PRE")),
            ("3".into(), "rc.1".into())
        );
        assert_eq!(value("CARGO_BIN_EXE_t"), "/w/t");
        assert!(value("LD_LIBRARY_PATH").starts_with("/w/n:/w:/w/..:/rust"));
        assert_eq!(program.working_directory, Path::new("/w/p"));
    }
}
