//! The arguments of `cargo test`, taken apart: what cargo is to build, of which packages and targets, and what it hands
//! to test programs. What is built is cargo's own business.

use super::messages::Package;

/// Arguments as a user gives them to `cargo test`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arguments {
    /// Example: `--release`.
    options: Vec<String>,
    /// Example: `--workspace`.
    packages: Vec<String>,
    /// Example: `--lib`, `--test contract`.
    targets: Vec<String>,
    /// Example: `loud`, `core/loud`.
    features: Vec<String>,
    /// For the test programs: the filter, and what stands behind `--`. Example: `--test-threads=1`.
    harness: Vec<String>,
}

/// What a word of the command line is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Topic {
    Option,
    Package,
    Target,
    Features,
    /// Has no meaning for fewer, which builds and runs in steps of its own.
    Nothing,
}

/// Options of cargo that are followed by a value.
const WITH_VALUE: [&str; 22] = [
    "-p",
    "--package",
    "--exclude",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-F",
    "--features",
    "-j",
    "--jobs",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--lockfile-path",
    "--config",
    "--color",
    "-Z",
    "-C",
    "--message-format",
    "--artifact-dir",
];
/// Options of Rust's harness that are followed by a value.
const HARNESS_WITH_VALUE: [&str; 7] =
    ["-Z", "--skip", "--test-threads", "--format", "--logfile", "--color", "--shuffle-seed"];
/// Options of Rust's harness that say what is printed.
const HARNESS_OUTPUT: [&str; 9] = [
    "--format",
    "--logfile",
    "--color",
    "-q",
    "--quiet",
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--list",
];
/// Options of Rust's harness that say which tests run, in which order and how many at a time.
const HARNESS_SELECTION: [&str; 7] =
    ["--skip", "--exact", "--ignored", "--include-ignored", "--test-threads", "--shuffle", "--shuffle-seed"];

impl Arguments {
    pub fn parse(words: &[String]) -> Arguments {
        let mut arguments = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                arguments.harness.extend(words.cloned());
                break;
            }
            if !word.starts_with('-') {
                arguments.harness.push(word.clone());
                continue;
            }
            let (name, mut value) = name_and_value(word);
            if value.is_none() && WITH_VALUE.contains(&name) {
                value = words.next().cloned();
            }
            arguments.take(name, value);
        }
        arguments
    }

    fn take(&mut self, name: &str, value: Option<String>) {
        let (place, name) = match topic(name) {
            Topic::Option => (&mut self.options, name),
            Topic::Package if name == "-p" => (&mut self.packages, "--package"),
            Topic::Package => (&mut self.packages, name),
            Topic::Target => (&mut self.targets, name),
            Topic::Features => {
                let names = value.iter().flat_map(|value| value.split([',', ' ']));
                return self.features.extend(names.filter(|name| !name.is_empty()).map(str::to_string));
            }
            Topic::Nothing => return,
        };
        place.push(name.to_string());
        place.extend(value);
    }

    /// For a build of all that is to be tested. Documentation tests alone need the libraries only.
    pub fn build(&self) -> Vec<String> {
        let targets =
            if self.is_only_documentation() { vec!["--lib".to_string()] } else { self.targets.clone() };
        [self.options.clone(), self.packages.clone(), targets, feature_words(self.features.iter())].concat()
    }

    /// What other commands of cargo need to find the same project. Example: `--manifest-path`, `--offline`.
    pub(super) fn place(&self) -> Vec<String> {
        let mut place = Vec::new();
        let mut words = self.options.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--locked" | "--offline" | "--frozen" => place.push(word.clone()),
                "--manifest-path" | "--config" | "--lockfile-path" => {
                    place.push(word.clone());
                    place.extend(words.next().cloned());
                }
                _ => {}
            }
        }
        place
    }

    /// Every value of an option of cargo.
    pub(super) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.options.windows(2).filter(move |pair| pair[0] == name).map(|pair| pair[1].as_str())
    }

    pub fn is_only_documentation(&self) -> bool {
        self.targets.iter().any(|target| target == "--doc")
    }

    /// The arguments of the `cargo test` that runs the documentation tests of one package; `None` where the user's does
    /// not run them: it names other targets, or leaves the package out.
    pub fn documentation(&self, package: &Package, default_members: &[String]) -> Option<Vec<String>> {
        let is_meant = self.targets.is_empty() || self.is_only_documentation();
        if !is_meant || !self.selects(package, default_members) {
            return None;
        }
        let own = format!("{}/", package.name);
        let is_known = |feature: &&String| feature.starts_with(&own) || package.has_feature(feature);
        let mut arguments = self.options.clone();
        arguments.extend(feature_words(self.features.iter().filter(is_known)));
        let spec = format!("{}@{}", package.name, package.version);
        arguments.extend(["--doc", "--package", &spec, "--"].map(str::to_string));
        arguments.extend(self.plain());
        Some(arguments)
    }

    /// Whether cargo tests the package, by what it is told and by what it tests otherwise.
    fn selects(&self, package: &Package, default_members: &[String]) -> bool {
        let named = |option: &str| {
            let pairs = self.packages.windows(2).filter(|pair| pair[0] == option);
            pairs.map(|pair| pair[1].clone()).collect::<Vec<_>>()
        };
        let is_named = |specs: &[String]| specs.iter().any(|spec| is_spec_of(spec, &package.name));
        let included = named("--package");
        if self.packages.iter().any(|word| word == "--workspace" || word == "--all") {
            !is_named(&named("--exclude"))
        } else if included.is_empty() {
            default_members.contains(&package.id)
        } else {
            is_named(&included)
        }
    }

    /// What `cargo test` gives every test program; where results are written to is fewer's.
    pub fn plain(&self) -> Vec<String> {
        self.harness_without(&["--logfile", "--list"], true)
    }

    /// The same, without what only concerns the output.
    pub fn plain_without_output(&self) -> Vec<String> {
        self.harness_without(&HARNESS_OUTPUT, true)
    }

    /// For processes that run tests by their exact names.
    pub fn of_each_test(&self) -> Vec<String> {
        let mut arguments = self.harness_without(&[&HARNESS_OUTPUT[..], &HARNESS_SELECTION].concat(), false);
        if self.runs_ignored() {
            arguments.push("--include-ignored".to_string());
        }
        arguments
    }

    /// Whether tests that are marked as ignored run.
    pub fn runs_ignored(&self) -> bool {
        self.harness.iter().any(|word| word == "--ignored" || word == "--include-ignored")
    }

    /// How many tests of a program may run at a time, if the user says so here or by a variable.
    pub fn test_threads(&self) -> Option<usize> {
        let mut words = self.harness.iter();
        let mut said = std::env::var("RUST_TEST_THREADS").ok();
        while let Some(word) = words.next() {
            match word.split_once('=') {
                Some(("--test-threads", value)) => said = Some(value.to_string()),
                Some(_) => {}
                None if word == "--test-threads" => said = words.next().cloned(),
                None => {}
            }
        }
        said?.parse().ok()
    }

    /// As nextest calls the same.
    pub(super) fn for_nextest(&self) -> Vec<String> {
        let renamed = self.options.iter().map(|word| match word.as_str() {
            "--profile" => "--cargo-profile".to_string(),
            "-j" | "--jobs" => "--build-jobs".to_string(),
            _ => word.clone(),
        });
        let rest =
            [self.packages.clone(), self.targets.clone(), feature_words(self.features.iter())].concat();
        renamed.chain(rest).collect()
    }

    /// What is handed to test programs, without some of the options, and without the filter if that is not wanted.
    fn harness_without(&self, options: &[&str], keeps_filter: bool) -> Vec<String> {
        let mut kept = Vec::new();
        let mut words = self.harness.iter();
        while let Some(word) = words.next() {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            let value = (name == word && HARNESS_WITH_VALUE.contains(&name)).then(|| words.next()).flatten();
            let is_kept = if word.starts_with('-') { !options.contains(&name) } else { keeps_filter };
            if is_kept {
                kept.push(word.clone());
                kept.extend(value.cloned());
            }
        }
        kept
    }
}

/// Example: `--jobs` and `4`, from `--jobs=4`; `-p` and `core`, from `-pcore`.
fn name_and_value(word: &str) -> (&str, Option<String>) {
    if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return (name, Some(value.to_string()));
    }
    match word.get(..2) {
        Some(name) if !word.starts_with("--") && word.len() > 2 && WITH_VALUE.contains(&name) => {
            (name, Some(word[2..].trim_start_matches('=').to_string()))
        }
        Some(_) | None => (word, None),
    }
}

fn topic(name: &str) -> Topic {
    match name {
        "--workspace" | "--all" | "-p" | "--package" | "--exclude" => Topic::Package,
        "--lib" | "--bins" | "--bin" | "--tests" | "--test" | "--examples" | "--example" | "--benches"
        | "--bench" | "--all-targets" | "--doc" => Topic::Target,
        "-F" | "--features" => Topic::Features,
        "--no-run" | "--no-fail-fast" | "--message-format" => Topic::Nothing,
        _ => Topic::Option,
    }
}

fn feature_words<'f>(features: impl Iterator<Item = &'f String>) -> Vec<String> {
    let joined = features.cloned().collect::<Vec<_>>().join(",");
    if joined.is_empty() { Vec::new() } else { vec!["--features".to_string(), joined] }
}

/// Whether a package is what cargo calls so. Example: `core`, `core@1.2`, `path+file:///w/core#1.2`, `core-*`.
fn is_spec_of(spec: &str, package: &str) -> bool {
    let named = match spec.split_once('#') {
        Some((place, version)) if version.starts_with(|first: char| first.is_ascii_digit()) => {
            place.rsplit('/').next().unwrap_or(place)
        }
        Some((_, named)) => named,
        None if spec.contains('/') => spec.rsplit('/').next().unwrap_or(spec),
        None => spec,
    };
    let name = named.split(['@', ':']).next().unwrap_or(named);
    is_like(name.as_bytes(), package.as_bytes())
}

/// `*` stands for any text, `?` for one character.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if is_like(rest, text) => true,
        (Some((b'*', _)), Some((_, text))) => is_like(pattern, text),
        (Some((b'?', pattern)), Some((_, text))) => is_like(pattern, text),
        (Some((wanted, pattern)), Some((found, text))) => wanted == found && is_like(pattern, text),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Arguments {
        Arguments::parse(&words.split(' ').map(str::to_string).collect::<Vec<_>>())
    }

    fn package(name: &str) -> Package {
        let text = format!(
            r#"{{"packages": [{{"id": "{name}#1", "name": "{name}", "version": "1.0.0", "manifest_path": "/w/{name}/Cargo.toml",
                "features": {{"loud": []}}, "targets": []}}]}}"#
        );
        crate::cargo::messages::packages(&text).unwrap().packages.remove(0)
    }

    fn documentation(words: &str) -> Option<String> {
        parsed(words).documentation(&package("core"), &["core#1".to_string()]).map(|words| words.join(" "))
    }

    #[test]
    fn what_is_for_test_programs_is_no_part_of_the_build() {
        let arguments = parsed("--workspace --release -j4 word --no-run -- --test-threads=1 --skip slow -q");
        assert_eq!(arguments.build().join(" "), "--release -j 4 --workspace");
        assert_eq!(arguments.plain_without_output().join(" "), "word --test-threads=1 --skip slow");
        assert_eq!(arguments.plain().join(" "), "word --test-threads=1 --skip slow -q");
        assert!(arguments.of_each_test().is_empty());
        assert_eq!(arguments.test_threads(), Some(1));
        assert_eq!(parsed("-- --ignored -Z x").of_each_test().join(" "), "-Z x --include-ignored");
    }

    #[test]
    fn documentation_is_tested_where_cargo_does() {
        let with = |rest: &str| Some(format!("--doc --package core@1.0.0 --{rest}"));
        assert_eq!(documentation("--workspace"), with(""));
        assert_eq!(
            documentation("--offline word -- --skip x"),
            Some("--offline ".to_string() + &with(" word --skip x").unwrap())
        );
        assert_eq!(documentation("-p core"), with(""));
        assert_eq!(documentation("-p c?r*"), with(""));
        assert_eq!(documentation("--doc"), with(""));
        assert_eq!(documentation("--workspace --exclude tool"), with(""));
        assert_eq!(
            documentation("--features loud,other"),
            Some("--features loud ".to_string() + &with("").unwrap())
        );
        for left_out in
            ["--lib --tests", "--all-targets", "--test x", "--workspace --exclude=core", "-p tool"]
        {
            assert_eq!(documentation(left_out), None, "{left_out}");
        }
    }

    #[test]
    fn arguments_of_cargo_are_handed_on_under_the_names_of_nextest() {
        let arguments =
            parsed("--workspace --profile ci --jobs=3 --no-fail-fast --features=a -- --nocapture");
        let expected = "--cargo-profile ci --build-jobs 3 --workspace --features a";
        assert_eq!(arguments.for_nextest().join(" "), expected);
    }
}
