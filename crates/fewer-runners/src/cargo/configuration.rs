//! What cargo's configuration files say of how test programs are started: the variables of `[env]`, and the runner that
//! is put in front of them. All else in them is left to cargo.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cargo_platform::{Cfg, CfgExpr};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{Cargo, CargoError};

/// How test programs are started.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Configuration {
    /// What programs are compiled for. Example: `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// Set for test programs, unless cargo itself sets them.
    pub environment: Vec<(String, String)>,
    /// A program with arguments that every test program is handed to; mostly none.
    pub runner: Vec<String>,
}

/// How deep files may include others.
const DEEPEST: usize = 8;

/// One file, or one `--config`.
struct Layer {
    table: Table,
    /// What paths in it are relative to.
    base: PathBuf,
}

impl Configuration {
    /// As cargo would read it in its directory; `version` is the compiler's description of itself.
    pub fn read(cargo: &Cargo, version: &str) -> Result<Configuration, CargoError> {
        let layers = layers(cargo);
        let target = target(cargo, &layers, version);
        let runner = runner(cargo, &layers, &target)?;
        Ok(Configuration { environment: environment(&layers), target, runner })
    }

    /// The variable that names the runner.
    pub(super) fn runner_variable(&self) -> String {
        runner_variable(&self.target)
    }
}

fn runner_variable(target: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase().replace(['-', '.'], "_"))
}

/// What counts most comes first: the command line, then the files from the directory upwards, then the user's own.
fn layers(cargo: &Cargo) -> Vec<Layer> {
    let mut layers = Vec::new();
    let mut given: Vec<&str> = cargo.arguments.values("--config").collect();
    given.reverse();
    for text in given {
        let path = cargo.directory.join(text);
        if path.is_file() {
            read_file(&path, DEEPEST, &mut layers);
        } else if let Ok(table) = text.parse() {
            layers.push(Layer { table, base: cargo.directory.clone() });
        }
    }
    let mut places: Vec<PathBuf> =
        cargo.directory.ancestors().map(|directory| directory.join(".cargo")).collect();
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    places.extend(home.filter(|home| !places.contains(home)));
    for place in places {
        // The name without an ending is the older one, and goes first.
        let names = ["config", "config.toml"].map(|name| place.join(name));
        if let Some(path) = names.iter().find(|path| path.is_file()) {
            read_file(path, DEEPEST, &mut layers);
        }
    }
    layers
}

/// A file and those that it includes, which count less. One that cannot be read ends cargo's own build.
fn read_file(path: &Path, depth: usize, layers: &mut Vec<Layer>) {
    let table = fewer_files::read_to_string(path).ok().and_then(|text| text.parse::<Table>().ok());
    let (Some(table), Some(directory)) = (table, path.parent()) else { return };
    let included = words(table.get("include")).into_iter().map(|name| directory.join(name));
    let included: Vec<PathBuf> = if depth > 0 { included.collect() } else { Vec::new() };
    let base = directory.parent().unwrap_or(directory).to_path_buf();
    layers.push(Layer { table, base });
    for path in included.iter().rev() {
        read_file(path, depth - 1, layers);
    }
}

/// A text, several of them, or tables with a path.
fn words(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(values)) => values.iter().flat_map(|value| words(Some(value))).collect(),
        Some(Value::Table(table)) => words(table.get("path")),
        Some(_) | None => Vec::new(),
    }
}

fn environment(layers: &[Layer]) -> Vec<(String, String)> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for Layer { table, base } in layers {
        let variables = table.get("env").and_then(Value::as_table);
        for (name, value) in variables.into_iter().flatten() {
            found.entry(name.clone()).or_insert_with(|| variable(name, value, base));
        }
    }
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// `None` where the caller's environment has the variable already, and that is to stay.
fn variable(name: &str, value: &Value, base: &Path) -> Option<String> {
    let is = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
    let text = value.as_str().or_else(|| value.get("value").and_then(Value::as_str))?;
    if !is("force") && std::env::var_os(name).is_some() {
        return None;
    }
    let relative = is("relative").then(|| base.join(text).to_string_lossy().into_owned());
    Some(relative.unwrap_or_else(|| text.to_string()))
}

fn target(cargo: &Cargo, layers: &[Layer], version: &str) -> String {
    let given = cargo.arguments.values("--target").next().map(str::to_string);
    let variable = || std::env::var("CARGO_BUILD_TARGET").ok().filter(|target| !target.is_empty());
    let written = || {
        let mut values = layers.iter().filter_map(|layer| layer.table.get("build")?.get("target"));
        values.next().and_then(|value| words(Some(value)).into_iter().next())
    };
    let host = || version.lines().find_map(|line| line.strip_prefix("host: "));
    let target = given.or_else(variable).or_else(written);
    target.unwrap_or_else(|| host().unwrap_or_default().to_string())
}

fn runner(cargo: &Cargo, layers: &[Layer], target: &str) -> Result<Vec<String>, CargoError> {
    if let Ok(text) = std::env::var(runner_variable(target)) {
        return Ok(located(text.split_whitespace().map(str::to_string).collect(), &cargo.directory));
    }
    let mut for_conditions = Vec::new();
    for layer in layers {
        let targets = layer.table.get("target").and_then(Value::as_table);
        for (name, table) in targets.into_iter().flatten() {
            let Some(runner) = table.get("runner") else { continue };
            let runner = located(split(runner), &layer.base);
            if name == target {
                return Ok(runner);
            }
            for_conditions
                .extend(CfgExpr::from_str(condition(name)).ok().map(|condition| (condition, runner)));
        }
    }
    if for_conditions.is_empty() {
        return Ok(Vec::new());
    }
    let holding = cargo.conditions(target)?;
    let holding: Vec<Cfg> = holding.lines().filter_map(|line| line.parse().ok()).collect();
    let found = for_conditions.into_iter().find(|(condition, _)| condition.matches(&holding));
    Ok(found.map(|(_, runner)| runner).unwrap_or_default())
}

/// Example: `all(unix, not(miri))`, from `cfg(all(unix, not(miri)))`; nothing that can be read, from a target's name.
fn condition(name: &str) -> &str {
    name.strip_prefix("cfg(").and_then(|rest| rest.strip_suffix(')')).unwrap_or("")
}

/// A text is cut at its blanks, an array is not.
fn split(runner: &Value) -> Vec<String> {
    match runner {
        Value::String(text) => text.split_whitespace().map(str::to_string).collect(),
        other => words(Some(other)),
    }
}

/// A program that is named by a path is looked for from where the file belongs to; others are searched in `PATH`.
fn located(mut runner: Vec<String>, base: &Path) -> Vec<String> {
    if let Some(program) = runner.first_mut().filter(|program| program.contains('/')) {
        *program = base.join(&*program).to_string_lossy().into_owned();
    }
    runner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Arguments;
    use std::fs;

    const VERSION: &str = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\n";

    fn read(files: &[(&str, &str)], arguments: &[&str]) -> (tempfile::TempDir, Configuration) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let arguments: Vec<String> = arguments.iter().map(|word| word.to_string()).collect();
        let directory = root.path().join("inner");
        let cargo = Cargo { program: "cargo".into(), arguments: Arguments::parse(&arguments), directory };
        let configuration = Configuration::read(&cargo, VERSION).unwrap();
        (root, configuration)
    }

    #[test]
    fn the_nearest_file_says_which_variables_are_set() {
        let (root, configuration) = read(
            &[
                (
                    ".cargo/config.toml",
                    "[env]\nFEWER_A = \"far\"\nFEWER_B = { value = \"data\", relative = true }\n",
                ),
                (
                    "inner/.cargo/config.toml",
                    "[env]\nFEWER_A = \"near\"\nPATH = \"mine\"\nHOME = { value = \"x\", force = true }\n",
                ),
            ],
            &[],
        );
        let data = root.path().join("data").to_string_lossy().into_owned();
        let expected = [("FEWER_A", "near"), ("FEWER_B", &data), ("HOME", "x")];
        assert_eq!(
            configuration.environment,
            expected.map(|(name, value)| (name.to_string(), value.to_string()))
        );
    }

    #[test]
    fn a_runner_is_named_for_a_target_or_for_a_condition() {
        let file = "[target.x86_64-unknown-linux-gnu]\nrunner = \"./run.sh --quick\"\n[target.'cfg(unix)']\nrunner = [\"a b\", \"c\"]\n";
        let (root, named) = read(&[(".cargo/config.toml", file)], &[]);
        assert_eq!(
            named.runner,
            [root.path().join("./run.sh").to_string_lossy().into_owned(), "--quick".into()]
        );
        let file = "[target.'cfg(windows)']\nrunner = \"w\"\n[target.'cfg(all(unix, not(miri)))']\nrunner = [\"a b\", \"c\"]\n";
        let (_root, by_condition) = read(&[("inner/.cargo/config", file)], &[]);
        assert_eq!(by_condition.runner, ["a b", "c"]);
        let given = "target.x86_64-unknown-linux-gnu.runner = 'valgrind -q'";
        let (_root, given) = read(&[(".cargo/config.toml", file)], &["--config", given]);
        assert_eq!(given.runner, ["valgrind", "-q"]);
        assert_eq!(given.runner_variable(), "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER");
    }
}
