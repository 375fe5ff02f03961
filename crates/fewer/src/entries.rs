//! CTest's entries, sorted: those that start a GoogleTest program of the build only tell how it is started; every
//! other entry is one test. Reading and running entries is done by the runners.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fewer_core::TestId;
use fewer_objects::Target;
use fewer_runners::ctest::CtestEntry;
use serde_json::Value;

/// The target part of ids of entries that start no program of the build.
const NO_PROGRAM: &str = "ctest";

/// Properties by which CTest judges the output, or that need other entries to run first.
const JUDGED_BY_CTEST: &[&str] = &[
    "FAIL_REGULAR_EXPRESSION",
    "FIXTURES_CLEANUP",
    "FIXTURES_REQUIRED",
    "FIXTURES_SETUP",
    "PASS_REGULAR_EXPRESSION",
    "WILL_FAIL",
];

#[derive(Debug, Default)]
pub struct Entries {
    /// By GoogleTest program an entry that tells how it is started.
    pub googletest: BTreeMap<String, CtestEntry>,
    /// GoogleTest programs that CTest judges by rules of its own: they run as entries only.
    pub only_entries: BTreeSet<String>,
    pub single: Vec<SingleEntry>,
}

/// An entry that is one test.
#[derive(Clone, Debug)]
pub struct SingleEntry {
    pub id: TestId,
    pub entry: CtestEntry,
    /// The program of the build that it starts, by name.
    pub target: Option<String>,
}

impl Entries {
    pub fn sort(
        entries: Vec<CtestEntry>,
        build_directory: &Path,
        targets: &[Target],
        is_excluded: impl Fn(&str) -> bool,
    ) -> Entries {
        let programs = Programs::new(build_directory, targets);
        let mut sorted = Entries::default();
        let mut names = Names::default();
        let mut ways: BTreeMap<String, Vec<(Way, Vec<CtestEntry>)>> = BTreeMap::new();
        let mut judged: Vec<(String, CtestEntry)> = Vec::new();
        for entry in entries {
            match programs.target(&entry) {
                Some(target) if is_excluded(&target.name) => {}
                Some(target) if !target.has_googletest => sorted.add(&mut names, entry, Some(&target.name)),
                Some(target) if is_judged_by_ctest(&entry) => judged.push((target.name.clone(), entry)),
                Some(target) => {
                    let way = Way::of(&entry);
                    let ways = ways.entry(target.name.clone()).or_default();
                    match ways.iter_mut().find(|(known, _)| *known == way) {
                        Some((_, entries)) => entries.push(entry),
                        None => ways.push((way, vec![entry])),
                    }
                }
                None => sorted.add(&mut names, entry, None),
            }
        }
        for (target, ways) in ways {
            let mut ways = ways.into_iter().map(|(_, entries)| entries);
            let mut same_way = ways.next().into_iter().flatten();
            if let Some(mut first) = same_way.next() {
                // One process runs the tests of many entries, and what any of them must not run beside.
                same_way.for_each(|entry| first.claims.extend(&entry.claims));
                sorted.googletest.insert(target.clone(), first);
            }
            // The same program in another environment or with other arguments is another test.
            ways.flatten().for_each(|entry| sorted.add(&mut names, entry, Some(&target)));
        }
        for (target, entry) in judged {
            if !sorted.googletest.contains_key(&target) {
                sorted.only_entries.insert(target.clone());
            }
            sorted.add(&mut names, entry, Some(&target));
        }
        sorted
    }

    fn add(&mut self, names: &mut Names, entry: CtestEntry, target: Option<&str>) {
        let id = names.id(target.unwrap_or(NO_PROGRAM), &entry.name);
        self.single.push(SingleEntry { id, entry, target: target.map(str::to_string) });
    }
}

/// How an entry starts its program, but for flags of GoogleTest itself.
#[derive(PartialEq)]
struct Way {
    directory: PathBuf,
    environment: Vec<Option<Value>>,
    arguments: Vec<String>,
}

impl Way {
    fn of(entry: &CtestEntry) -> Way {
        let property = |name: &str| entry.properties.get(name).cloned();
        let arguments = entry.command.iter().skip(1).filter(|argument| !argument.starts_with("--gtest_"));
        Way {
            directory: entry.working_directory.clone(),
            environment: vec![property("ENVIRONMENT"), property("ENVIRONMENT_MODIFICATION")],
            arguments: arguments.cloned().collect(),
        }
    }
}

fn is_judged_by_ctest(entry: &CtestEntry) -> bool {
    let is_one_test = entry.command.iter().any(|argument| argument.starts_with("--gtest_filter="));
    (entry.disabled && !is_one_test)
        || JUDGED_BY_CTEST.iter().any(|name| match entry.properties.get(*name) {
            Some(Value::Bool(value)) => *value,
            Some(_) => true,
            None => false,
        })
}

/// The programs of the build by path.
struct Programs<'t> {
    by_path: HashMap<PathBuf, &'t Target>,
}

impl<'t> Programs<'t> {
    fn new(build_directory: &Path, targets: &'t [Target]) -> Programs<'t> {
        let by_path = targets
            .iter()
            .filter_map(|target| Some((build_directory.join(&target.name).canonicalize().ok()?, target)))
            .collect();
        Programs { by_path }
    }

    fn target(&self, entry: &CtestEntry) -> Option<&'t Target> {
        let executable = entry.working_directory.join(entry.command.first()?);
        self.by_path.get(&executable.canonicalize().ok()?).copied()
    }
}

/// Ids given so far: CTest's names are not unique.
#[derive(Default)]
struct Names {
    given: HashMap<TestId, usize>,
}

impl Names {
    fn id(&mut self, target: &str, name: &str) -> TestId {
        let id = TestId::new(target, name);
        let count = self.given.entry(id.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { id } else { TestId::new(target, format!("{name}#{count}")) }
    }
}
