//! CTest's entries, sorted: those that start a GoogleTest program of the build in a way that fewer knows how to keep only
//! tell how it is started and which of its tests are meant; every other entry is one test that `ctest` runs. Reading
//! and running entries is done by the runners.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fewer_core::TestId;
use fewer_objects::{ListedTest, Target};
use fewer_runners::TestProgram;
use fewer_runners::ctest::CtestEntry;

use crate::way::{Choice, Chosen, Way, way_of};

/// The target part of ids of entries that start no program of the build.
pub const NO_PROGRAM: &str = "ctest";

#[derive(Debug, Default)]
pub struct Entries {
    /// By GoogleTest program the entries by which its tests run one by one.
    googletest: BTreeMap<String, Alike>,
    /// GoogleTest programs that run as entries only.
    pub only_entries: BTreeSet<String>,
    pub single: Vec<SingleEntry>,
    /// The names of all.
    pub declared: BTreeSet<String>,
    /// By number those that others need.
    pub needed: BTreeMap<usize, SingleEntry>,
    names: Names,
}

/// Entries that start a program alike.
#[derive(Debug)]
pub struct Alike {
    pub way: Way,
    entries: Vec<(Choice, CtestEntry)>,
}

/// An entry that is one test.
#[derive(Clone, Debug)]
pub struct SingleEntry {
    pub id: TestId,
    pub entry: CtestEntry,
    /// The program of the build that it starts, by name.
    pub target: Option<String>,
}

/// What the entries of a program mean, once its tests are known.
#[derive(Debug, Default)]
pub struct Covered {
    /// Those that CTest runs.
    pub tests: Vec<ListedTest>,
    /// Names of those that no entry means.
    pub others: Vec<String>,
    /// Entries that have to be left to CTest after all.
    pub left: Vec<CtestEntry>,
}

impl Entries {
    pub fn sort(
        entries: Vec<CtestEntry>,
        build_directory: &Path,
        targets: &[Target],
        is_excluded: impl Fn(&TestId) -> bool,
    ) -> Entries {
        let programs = Programs::new(build_directory, targets);
        let declared = entries.iter().map(|entry| entry.name.clone()).collect();
        let mut sorted = Entries { declared, ..Entries::default() };
        let mut ways: BTreeMap<String, Vec<Alike>> = BTreeMap::new();
        let mut left: Vec<(String, CtestEntry)> = Vec::new();
        let needed: BTreeSet<usize> = entries.iter().flat_map(|entry| entry.needs.iter().copied()).collect();
        for entry in entries {
            let target = programs.target(&entry);
            if needed.contains(&entry.number) {
                let needed = SingleEntry::new(TestId::new(NO_PROGRAM, &entry.name), entry.clone(), target);
                sorted.needed.insert(entry.number, needed);
            }
            let name = target.map_or(NO_PROGRAM, |target| target.name.as_str());
            match target {
                _ if is_excluded(&TestId::new(name, &entry.name)) => {}
                Some(target) if target.has_googletest => match way_of(&entry) {
                    Some((way, choice)) => {
                        add_way(ways.entry(target.name.clone()).or_default(), way, choice, entry);
                    }
                    None => left.push((target.name.clone(), entry)),
                },
                Some(target) => sorted.leave(Some(&target.name), entry),
                None => {
                    sorted.only_entries.extend(programs.given_to(&entry));
                    sorted.leave(None, entry);
                }
            }
        }
        for (target, mut ways) in ways {
            // The way of most entries, of those the first; the same program in another way is another test.
            ways.sort_by_key(|alike| std::cmp::Reverse(alike.entries.len()));
            let others = ways.split_off(1);
            sorted.only_entries.remove(&target);
            sorted.googletest.extend(ways.pop().map(|alike| (target.clone(), alike)));
            let others = others.into_iter().flat_map(|alike| alike.entries);
            left.extend(others.map(|(_, entry)| (target.clone(), entry)));
        }
        left.sort_by_key(|(_, entry)| entry.number);
        for (target, entry) in left {
            if !sorted.googletest.contains_key(&target) {
                sorted.only_entries.insert(target.clone());
            }
            sorted.leave(Some(&target), entry);
        }
        sorted
    }

    /// The entries by which the tests of a GoogleTest program run one by one.
    pub fn of(&self, target: &str) -> Option<&Alike> {
        self.googletest.get(target)
    }

    /// Has `ctest` run an entry, as one test.
    pub fn leave(&mut self, target: Option<&str>, entry: CtestEntry) {
        let id = self.names.id(target.unwrap_or(NO_PROGRAM), &entry.name);
        self.single.push(SingleEntry { id, entry, target: target.map(str::to_string) });
    }

    /// Has `ctest` run all entries of a program; whether there are any.
    pub fn leave_all(&mut self, target: &str) -> bool {
        let entries = self.googletest.remove(target).map(|alike| alike.entries).unwrap_or_default();
        let has_any = !entries.is_empty();
        entries.into_iter().for_each(|(_, entry)| self.leave(Some(target), entry));
        has_any
    }
}

impl SingleEntry {
    fn new(id: TestId, entry: CtestEntry, target: Option<&Target>) -> SingleEntry {
        SingleEntry { id, entry, target: target.map(|target| target.name.clone()) }
    }
}

fn add_way(ways: &mut Vec<Alike>, way: Way, choice: Choice, entry: CtestEntry) {
    match ways.iter_mut().find(|alike| alike.way == way) {
        Some(alike) => alike.entries.push((choice, entry)),
        None => ways.push(Alike { way, entries: vec![(choice, entry)] }),
    }
}

impl Alike {
    /// The program as the entries start it. One process runs the tests of many entries, and what any of them must not
    /// run beside.
    pub fn program(&self, target: &str) -> Option<TestProgram> {
        let (_, first) = self.entries.first()?;
        let mut program = first.program(target)?;
        program.arguments = self.way.arguments.clone();
        program.test_timeout = self.way.timeout;
        self.entries.iter().for_each(|(_, entry)| program.claims.extend(&entry.claims));
        Some(program)
    }

    /// Whether CTest starts each test in a process of its own.
    pub fn runs_each_test(&self) -> bool {
        self.entries.iter().all(|(choice, _)| matches!(choice.tests, Chosen::One(_)))
    }

    /// One of the entries: its variables are those of all.
    pub fn first(&self) -> Option<&CtestEntry> {
        self.entries.first().map(|(_, entry)| entry)
    }

    /// Which of the tests of the program are meant. A test is disabled if every entry that means it is.
    pub fn cover(&self, listed: &[ListedTest]) -> Covered {
        let names: Vec<String> = listed.iter().map(ListedTest::name).collect();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        names.iter().enumerate().for_each(|(place, name)| by_name.entry(name).or_default().push(place));
        let mut left: Vec<&(Choice, CtestEntry)> = Vec::new();
        // Per test whether it runs, once an entry means it.
        let mut runs: Vec<Option<bool>> = vec![None; listed.len()];
        for both @ (choice, entry) in &self.entries {
            let chosen: Vec<usize> = match &choice.tests {
                Chosen::One(name) => by_name.get(name.as_str()).cloned().unwrap_or_default(),
                Chosen::All | Chosen::Some(_) => {
                    (0..listed.len()).filter(|&place| choice.tests.has(&names[place])).collect()
                }
            };
            let runs_disabled = choice.with_disabled && !entry.disabled;
            if chosen.is_empty() || (runs_disabled && chosen.iter().any(|&place| listed[place].is_disabled)) {
                left.push(both);
            } else {
                chosen.into_iter().for_each(|place| *runs[place].get_or_insert(false) |= !entry.disabled);
            }
        }
        let mut covered = Covered::default();
        for ((test, name), runs) in listed.iter().zip(names).zip(runs) {
            match runs {
                Some(runs) => {
                    covered.tests.push(ListedTest { is_disabled: test.is_disabled || !runs, ..test.clone() })
                }
                None if test.is_disabled || left.iter().any(|(choice, _)| choice.tests.has(&name)) => {}
                None => covered.others.push(name),
            }
        }
        covered.left = left.into_iter().map(|(_, entry)| entry.clone()).collect();
        covered
    }
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
        self.at(&entry.working_directory.join(entry.command.first()?))
    }

    /// The names of programs that another program is to start. Example: `cmake -E env LEVEL=1 build/t`.
    fn given_to(&self, entry: &CtestEntry) -> Vec<String> {
        let arguments = entry.command.iter().skip(1).filter(|argument| argument.contains('/'));
        let targets = arguments.filter_map(|argument| self.at(&entry.working_directory.join(argument)));
        targets.map(|target| target.name.clone()).collect()
    }

    fn at(&self, path: &Path) -> Option<&'t Target> {
        self.by_path.get(&path.canonicalize().ok()?).copied()
    }
}

/// Ids given so far: CTest's names are not unique.
#[derive(Debug, Default)]
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
