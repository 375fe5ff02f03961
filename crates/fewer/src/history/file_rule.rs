//! The language-neutral analyser: files are elements, some of them are tests, and a rule tells which files a file
//! depends on. It knows names and content hashes; it opens no file, and what a file says is nothing to it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Context, bail};
use fewer_core::history::{Inputs, RecordedGraph, UnitsBuilder};
use fewer_core::{Digest, DigestBuilder, Domain, ElementId, GraphBuilder, Mapping, TestId, TestNode};
use serde::Deserialize;

use super::path_pattern::PathPattern;

/// Raise it when the same rule and files give another graph.
const VERSION: u64 = 1;
const RULE: Domain = Domain::new("history.file-rule");

/// The target of every test: the file is the test's name.
const TARGET: &str = "file";

/// The table `files` of `fewer.toml`, word by word.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FilesTable {
    tests: Vec<String>,
    always: Vec<String>,
    dependencies: Vec<DependencyTable>,
}

#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
struct DependencyTable {
    from: String,
    to: Vec<String>,
}

/// Which files are tests, and on which files a file depends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRule {
    tests: Vec<PathPattern>,
    /// Files that every test depends on.
    always: Vec<PathPattern>,
    dependencies: Vec<Dependency>,
    digest: Digest,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Dependency {
    from: PathPattern,
    to: Vec<PathPattern>,
}

/// The files of a commit that the rule speaks of, with their content.
pub type Files = BTreeMap<String, Digest>;

/// A rule with what it says of the paths met so far.
pub struct FileReader<'r> {
    rule: &'r FileRule,
    roles: HashMap<String, Arc<Role>>,
}

/// What the rule says of a path.
#[derive(Debug, Default)]
struct Role {
    is_mentioned: bool,
    is_test: bool,
    is_always: bool,
    targets: Vec<PathPattern>,
}

impl FileRule {
    pub fn compile(table: &FilesTable) -> anyhow::Result<FileRule> {
        let patterns = |key: &str, texts: &[String]| -> anyhow::Result<Vec<PathPattern>> {
            let parsed = texts.iter().map(|text| PathPattern::parse(text)).collect::<Result<_, _>>();
            parsed.with_context(|| format!("in 'files.{key}'"))
        };
        let mut dependencies = Vec::new();
        for DependencyTable { from, to } in &table.dependencies {
            let compiled = Dependency {
                from: PathPattern::parse(from).context("in 'files.dependencies'")?,
                to: patterns("dependencies", to)?,
            };
            for target in &compiled.to {
                if let Some(name) =
                    target.names().find(|name| !compiled.from.names().any(|known| known == *name))
                {
                    bail!("in 'files.dependencies': {{{name}}} is in 'to' but not in 'from' ('{from}')");
                }
            }
            dependencies.push(compiled);
        }
        Ok(FileRule {
            tests: patterns("tests", &table.tests)?,
            always: patterns("always", &table.always)?,
            dependencies,
            digest: digest(table),
        })
    }

    /// The same for the same rule.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl<'r> FileReader<'r> {
    pub fn new(rule: &'r FileRule) -> FileReader<'r> {
        FileReader { rule, roles: HashMap::new() }
    }

    /// Whether the path can be an element.
    pub fn is_mentioned(&mut self, path: &str) -> bool {
        self.role(path).is_mentioned
    }

    /// The graph of some files. `input` tells a file's name in the lists of changed paths.
    pub fn graph(&mut self, files: &Files, input: impl Fn(&str) -> String) -> RecordedGraph {
        let paths: Vec<&str> = files.keys().map(String::as_str).collect();
        let roles: Vec<Arc<Role>> = paths.iter().map(|path| self.role(path)).collect();
        let mut builder = GraphBuilder::with_capacity(paths.len(), paths.len());
        let mut units = UnitsBuilder::new();
        for (path, content) in files {
            let element = builder.element(path, *content);
            let inputs = Inputs::Known(vec![units.path(&input(path))]);
            let unit = units.unit(path, inputs);
            units.member(element, unit);
        }
        let element = |place: usize| ElementId(place as u32);
        let always: Vec<ElementId> =
            (0..paths.len()).filter(|place| roles[*place].is_always).map(element).collect();
        for (place, role) in roles.iter().enumerate() {
            for target in role.targets.iter().flat_map(|target| places(target, &paths)) {
                if target != place {
                    builder.reference(element(place), element(target));
                }
            }
            if role.is_test {
                let mut roots = always.clone();
                roots.push(element(place));
                let id = TestId::new(TARGET, paths[place]);
                builder.test(TestNode { id, roots, mapping: Mapping::Mapped, disabled: false });
            }
        }
        RecordedGraph::new(builder.build(), units.build())
    }

    fn role(&mut self, path: &str) -> Arc<Role> {
        if let Some(role) = self.roles.get(path) {
            return role.clone();
        }
        let role = Arc::new(role(self.rule, path));
        self.roles.insert(path.to_string(), role.clone());
        role
    }
}

fn role(rule: &FileRule, path: &str) -> Role {
    let any = |patterns: &[PathPattern]| patterns.iter().any(|pattern| pattern.matches(path));
    let mut role = Role { is_test: any(&rule.tests), is_always: any(&rule.always), ..Role::default() };
    role.is_mentioned = role.is_test || role.is_always;
    for Dependency { from, to } in &rule.dependencies {
        if let Some(captures) = from.captures(path) {
            role.is_mentioned = true;
            role.targets.extend(to.iter().map(|pattern| pattern.bound(&captures)));
        }
        role.is_mentioned = role.is_mentioned || any(to);
    }
    role
}

/// Where the matching paths are in a sorted list.
fn places<'a>(pattern: &'a PathPattern, paths: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let prefix = pattern.prefix();
    let start = paths.partition_point(|path| *path < prefix);
    (start..paths.len())
        .take_while(move |place| paths[*place].starts_with(prefix))
        .take(if pattern.is_literal() { 1 } else { usize::MAX })
        .filter(|place| pattern.matches(paths[*place]))
}

fn digest(table: &FilesTable) -> Digest {
    let mut builder = DigestBuilder::new(RULE);
    builder.number(VERSION);
    let mut list = |texts: &[String]| {
        builder.number(texts.len() as u64);
        for text in texts {
            builder.text(text);
        }
    };
    list(&table.tests);
    list(&table.always);
    for DependencyTable { from, to } in &table.dependencies {
        list(std::slice::from_ref(from));
        list(to);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewer_core::Fingerprints;

    fn rule(text: &str) -> anyhow::Result<FileRule> {
        FileRule::compile(&toml::from_str(text).unwrap())
    }

    const RULE: &str = "tests = [\"tests/*_test.py\"]\nalways = [\"conftest.py\"]\n\
        dependencies = [{ from = \"tests/{name}_test.py\", to = [\"src/{name}.py\", \"data/{name}/**\"] },\n\
                        { from = \"src/{name}.py\", to = [\"src/base.py\"] }]\n";

    fn files(entries: &[(&str, u128)]) -> Files {
        entries.iter().map(|(path, content)| (path.to_string(), Digest(*content))).collect()
    }

    /// The tests that differ when one file does.
    fn affected(path: &str) -> Vec<String> {
        let rule = rule(RULE).unwrap();
        let mut reader = FileReader::new(&rule);
        let mut snapshot = |changed: Option<&str>| {
            let mut files = files(&[
                ("conftest.py", 1),
                ("data/a/x/y.txt", 1),
                ("src/a.py", 1),
                ("src/b.py", 1),
                ("src/base.py", 1),
                ("tests/a_test.py", 1),
                ("tests/b_test.py", 1),
                ("tests/c_test.py", 1),
            ]);
            files.extend(changed.map(|path| (path.to_string(), Digest(2))));
            let graph = reader.graph(&files, str::to_string);
            Fingerprints::compute(graph.graph()).snapshot(graph.graph())
        };
        let (old, new) = (snapshot(None), snapshot(Some(path)));
        fewer_core::tts(&old, &new).into_iter().map(|test| test.name).collect()
    }

    #[test]
    fn a_test_depends_on_what_the_rule_leads_to() {
        let all = ["tests/a_test.py", "tests/b_test.py", "tests/c_test.py"];
        assert_eq!(affected("src/a.py"), ["tests/a_test.py"]);
        assert_eq!(affected("data/a/x/y.txt"), ["tests/a_test.py"]);
        assert_eq!(affected("data/b/new.txt"), ["tests/b_test.py"], "a file that was not there before");
        assert_eq!(affected("src/base.py"), ["tests/a_test.py", "tests/b_test.py"], "through another file");
        assert_eq!(affected("tests/c_test.py"), ["tests/c_test.py"]);
        assert_eq!(affected("conftest.py"), all);
        assert_eq!(affected("src/c.py"), ["tests/c_test.py"]);
        assert_eq!(affected("README.md"), [""; 0]);
    }

    #[test]
    fn only_mentioned_paths_matter() {
        let rule = rule(RULE).unwrap();
        let mut reader = FileReader::new(&rule);
        for (path, expected) in [
            ("src/x.py", true),
            ("data/q/r", true),
            ("conftest.py", true),
            ("README.md", false),
            ("src/x.c", false),
        ] {
            assert_eq!(reader.is_mentioned(path), expected, "{path}");
        }
    }

    #[test]
    fn a_wrong_rule_is_refused_and_another_rule_has_another_digest() {
        let wrong = "dependencies = [{ from = \"a/{x}\", to = [\"b/{y}\"] }]\n";
        let message = rule(wrong).unwrap_err().to_string();
        assert_eq!(message, "in 'files.dependencies': {y} is in 'to' but not in 'from' ('a/{x}')");
        let message = format!("{:#}", rule("tests = [\"a}\"]\n").unwrap_err());
        assert_eq!(message, "in 'files.tests': 'a}' is not a pattern of paths: a '}' without a '{'");
        assert_ne!(rule("tests = [\"a\"]\n").unwrap().digest(), rule("always = [\"a\"]\n").unwrap().digest());
        assert_eq!(rule(RULE).unwrap().digest(), rule(RULE).unwrap().digest());
    }
}
