//! What the build directory holds: its graph and its tests, each with the way to start it. Nothing is decided
//! here, and only GoogleTest programs and CTest are started, to list their tests, where the command may.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use fewer_core::{Digest, DigestBuilder, Domain, Mapping, Snapshot, TestId, TestNode};
use fewer_objects::file_bytes::read_file;
use fewer_objects::image::ImageSummary;
use fewer_objects::surroundings::{LISTING_KIND, decode_listing, encode_listing};
use fewer_objects::{Analysis, BuildTree, Given, ListedTest, Target, plain_tests};
use fewer_runners::cargo::LibtestProgram;
use fewer_runners::ctest::CtestEntry;
use fewer_runners::googletest::{self, OwnWay};
use fewer_runners::{Cancel, TestProgram};
use rayon::prelude::*;

use crate::build_directory::BuildDirectory;
use crate::circumstances;
use crate::cmake_targets::left_over;
use crate::ctest_told::Told;
use crate::data_files;
use crate::entries::{Alike, Covered, Entries, NO_PROGRAM, SingleEntry};
use crate::session::{Session, Starts};

const LISTING: Domain = Domain::new("listing");
const EVERYTHING: Domain = Domain::new("everything");

/// How long a program may take to list its tests.
pub const LISTING_TIMEOUT: Duration = Duration::from_secs(60);

/// The name of the one test that stands for all tests of a program that cannot list them.
pub const WHOLE_PROGRAM: &str = "*";

/// Why the tests of a program are not known to a command that starts nothing.
pub const NOT_LISTED: &str =
    "only the program can tell its tests, and it has not been asked yet: `fewer run` does so";
pub const NOT_LISTED_AGAIN: &str =
    "it was built anew since it told its tests, and may have more: `fewer run` asks again";

/// How a test of a program is started.
#[derive(Clone, Debug)]
pub enum Starter {
    /// A test of a GoogleTest program: which program, and its place in the program's list.
    GoogleTest {
        program: usize,
        order: usize,
    },
    /// A GoogleTest program that cannot list its tests.
    Unlisted(TestProgram),
    /// A program that is one test.
    Whole(TestProgram),
    /// Documentation tests, which are compiled when they run.
    Documentation(TestProgram),
    /// A test of a program with Rust's harness.
    Libtest(Arc<LibtestProgram>),
    Ctest(CtestEntry),
}

/// A GoogleTest program whose tests can be started one by one.
pub struct ListedProgram {
    pub program: TestProgram,
    /// How its framework runs it, where that is known.
    pub own_way: Option<OwnWay>,
}

/// The graph and the tests of a build directory.
pub struct Examined<'t> {
    pub analysis: Analysis<'t>,
    pub tests: Vec<TestNode>,
    pub programs: Vec<ListedProgram>,
    pub starters: BTreeMap<TestId, Starter>,
    /// How tests are started, where that is part of what they are.
    pub circumstances: BTreeMap<TestId, Digest>,
    /// By target the key of its recorded list of tests.
    pub listings: Vec<(String, Digest)>,
    pub notes: Vec<String>,
    /// Why some tests may be missing altogether.
    pub incomplete: Option<String>,
    /// Whether the build directory declares CTest tests.
    pub has_ctest: bool,
    /// The names of CTest's entries.
    pub declared: BTreeSet<String>,
}

/// Reads the build directory.
pub fn scan(session: &Session<'_>, build_directory: &Path) -> anyhow::Result<(BuildTree, Vec<String>)> {
    let _phase = session.timings.phase("read objects");
    let cache = session.summaries();
    let tree = fewer_objects::scan_again(build_directory, cache.clone())?;
    let note = cache.take_problem().map(|problem| format!("summaries of objects are not kept: {problem}"));
    Ok((tree, note.into_iter().collect()))
}

/// Links what was read into a graph and finds the tests in it.
pub fn examine<'t>(
    session: &Session<'_>,
    directory: &BuildDirectory,
    tree: &'t BuildTree,
) -> anyhow::Result<Examined<'t>> {
    let analysis = {
        let _phase = session.timings.phase("link the graph");
        Analysis::of_build(&directory.path, tree, given(session, &directory.path))
    };
    session.go_on()?;
    let (entries, told) = ctest_entries(session, &directory.path, &analysis);
    session.go_on()?;
    let notes = analysis.notes().to_vec();
    let examined = Examined {
        analysis,
        tests: Vec::new(),
        programs: Vec::new(),
        starters: BTreeMap::new(),
        circumstances: BTreeMap::new(),
        listings: Vec::new(),
        notes,
        incomplete: told.incomplete,
        has_ctest: told.has_any,
        declared: entries.declared.clone(),
    };
    let (left_over, everything) = (BTreeSet::new(), OnceCell::new());
    let undeclared = told.unknown;
    Finder { session, directory, tree, entries, undeclared, examined, left_over, everything }.find()
}

/// The whole build and all data files: what a test may depend on of which nothing is known.
fn everything(tree: &BuildTree, analysis: &Analysis<'_>) -> Digest {
    let mut digest = DigestBuilder::new(EVERYTHING);
    for object in &tree.objects {
        digest.text(&object.name).digest(object.key);
    }
    for (index, image) in tree.images.iter().enumerate() {
        digest.text(&image.name).digest(tree.image_content(index));
    }
    for file in &analysis.surroundings().files {
        digest.text(&file.name).digest(file.digest);
    }
    digest.finish()
}

/// What is known of the state besides what was built.
pub fn given(session: &Session<'_>, build_directory: &Path) -> Given {
    let library_path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    Given {
        files: data_files::collect(&session.project, build_directory),
        variables: data_files::variables(&session.project),
        library_path: std::env::split_paths(&library_path)
            .filter(|path| !path.as_os_str().is_empty())
            .collect::<Vec<PathBuf>>(),
        virtual_calls: session.project.settings.cpp.virtual_calls.unwrap_or_default().into(),
        ..Given::default()
    }
}

/// What CTest's entries do not say.
struct ToldByCtest {
    has_any: bool,
    /// Why entries may be missing: CTest failed, or was not asked.
    incomplete: Option<String>,
    unknown: Option<String>,
}

fn ctest_entries(
    session: &Session<'_>,
    build_directory: &Path,
    analysis: &Analysis<'_>,
) -> (Entries, ToldByCtest) {
    let _phase = session.timings.phase("read CTest entries");
    let settings = &session.project.settings;
    match Told::of(session, build_directory) {
        Ok(Told { entries, has_any, unknown }) => {
            let is_excluded = |id: &TestId| settings.excludes(id);
            let entries = Entries::sort(entries, build_directory, analysis.targets(), is_excluded);
            (entries, ToldByCtest { has_any, incomplete: None, unknown })
        }
        Err(error) => {
            let problem = format!("tests that only CTest knows may be missing: {error:#}");
            (Entries::default(), ToldByCtest { has_any: true, incomplete: Some(problem), unknown: None })
        }
    }
}

/// Collects the tests of all programs and entries.
struct Finder<'s, 't> {
    session: &'s Session<'s>,
    directory: &'s BuildDirectory,
    tree: &'t BuildTree,
    entries: Entries,
    /// Why CTest may have more entries.
    undeclared: Option<String>,
    examined: Examined<'t>,
    left_over: BTreeSet<String>,
    /// Of the whole build; reads all programs, so it waits until a test needs it.
    everything: OnceCell<Digest>,
}

/// A GoogleTest program, ready to be listed.
struct Listable {
    target: Target,
    program: TestProgram,
    circumstances: Option<Digest>,
    key: Digest,
}

/// What is known of the tests of a program.
struct Listing {
    tests: Vec<ListedTest>,
    /// Why there may be more.
    unknown: Option<String>,
}

impl<'t> Finder<'_, 't> {
    fn find(mut self) -> anyhow::Result<Examined<'t>> {
        self.drop_left_over();
        let listables = self.listables();
        let listings = self.list(&listables)?;
        let _phase = self.session.timings.phase("map tests");
        for (listable, listing) in listables.into_iter().zip(listings) {
            match listing {
                Ok(listing) => self.add_googletest(listable, &listing),
                Err(cause) => self.add_unlistable(listable, cause)?,
            }
        }
        for single in std::mem::take(&mut self.entries.single) {
            self.add_single(single);
        }
        if let Some(cause) = self.undeclared.take() {
            self.examined.notes.push(cause.clone());
            let id = TestId::new(NO_PROGRAM, WHOLE_PROGRAM);
            self.examined.tests.push(Analysis::unmapped_test(id, cause, false));
        }
        Ok(self.examined)
    }

    /// Programs that the build does not make any more are no tests of the project, unless CTest starts them.
    fn drop_left_over(&mut self) {
        let is_declared = |target: &&Target| self.entries.of(&target.name).is_some();
        let undeclared: Vec<&str> =
            self.listed().filter(|target| !is_declared(target)).map(|target| target.name.as_str()).collect();
        let left_over = left_over(&self.directory.path, &undeclared);
        let notes = left_over.iter().map(|program| {
            format!(
                "{program}: the build does not make it any more, as its target was deleted, so its tests are not run: delete the \
                 program"
            )
        });
        self.examined.notes.extend(notes);
        self.left_over = left_over;
    }

    /// The GoogleTest programs whose tests are run one by one.
    fn listed(&self) -> impl Iterator<Item = &Target> {
        let exclude = &self.session.project.settings.exclude;
        self.examined.analysis.targets().iter().filter(move |target| {
            target.has_googletest
                && !exclude.is_match(&target.name)
                && !self.entries.only_entries.contains(&target.name)
                && !self.left_over.contains(&target.name)
        })
    }

    fn listables(&self) -> Vec<Listable> {
        let analysis = &self.examined.analysis;
        let root = &self.session.project.root;
        self.listed()
            .map(|target| {
                let usual = self.usual_directory(target);
                let alike = self.entries.of(&target.name);
                let program = self.program(target, alike, &usual);
                let entry = alike.and_then(Alike::first);
                let circumstances = circumstances::of_program(root, &program, entry, &usual);
                let mut key = DigestBuilder::new(LISTING);
                key.text(&target.name).digest(analysis.startup_fingerprint(target));
                key.digest(circumstances.unwrap_or_default());
                Listable { target: target.clone(), program, circumstances, key: key.finish() }
            })
            .collect()
    }

    fn program(&self, target: &Target, alike: Option<&Alike>, usual: &Path) -> TestProgram {
        let executable = self.directory.path.join(&target.name);
        let mut program = alike
            .and_then(|alike| alike.program(&target.name))
            .unwrap_or_else(|| TestProgram::new(&target.name, &executable, usual));
        program.executable = executable;
        if let Some(directory) = &self.session.project.settings.working_directory {
            program.working_directory = self.session.project.root.join(directory);
        }
        program
    }

    /// Where a program runs when nothing says so: in its own directory, as CTest would start it; without CMake in
    /// the nearest directory above it with a Makefile, as `make check` would.
    fn usual_directory(&self, target: &Target) -> PathBuf {
        let executable = self.directory.path.join(&target.name);
        let own = executable.parent().unwrap_or(&self.directory.path);
        let root = &self.session.project.root;
        if ["CMakeCache.txt", "build.ninja"].iter().any(|name| self.directory.path.join(name).exists()) {
            return own.to_path_buf();
        }
        own.ancestors()
            .take_while(|directory| directory.starts_with(root))
            .find(|directory| {
                ["Makefile", "GNUmakefile", "makefile"].iter().any(|name| directory.join(name).exists())
            })
            .unwrap_or(own)
            .to_path_buf()
    }

    /// The lists of tests, from the records where the program starts as it did then and still can be started; the cause in
    /// words where there is none.
    fn list(&self, listables: &[Listable]) -> anyhow::Result<Vec<Result<Listing, String>>> {
        let _phase = self.session.timings.phase("list tests");
        let keys: Vec<Digest> = listables.iter().map(|listable| listable.key).collect();
        let recorded = self.session.store().blobs(LISTING_KIND, &keys).unwrap_or_default();
        let known: HashMap<Digest, Vec<ListedTest>> =
            recorded.into_iter().filter_map(|(key, bytes)| Some((key, decode_listing(&bytes)?))).collect();
        let known = |listable: &Listable| {
            let listed = known.get(&listable.key).filter(|_| is_executable(&listable.program.executable));
            listed.map(|listed| Listing { tests: listed.clone(), unknown: None })
        };
        if self.session.starts == Starts::Nothing {
            let last = self.last_lists()?;
            let list = |listable: &Listable| {
                let name = &listable.target.name;
                let last = last.get(name).cloned();
                let last = last.map(|tests| Listing { tests, unknown: Some(NOT_LISTED_AGAIN.to_string()) });
                let listing = known(listable).or_else(|| self.seen(&listable.target)).or(last);
                listing.ok_or_else(|| NOT_LISTED.to_string())
            };
            return Ok(listables.iter().map(list).collect());
        }
        let cancel: &Cancel = &self.session.cancel;
        let list = |listable: &Listable| match known(listable) {
            Some(listing) => Ok(listing),
            None => listed(&listable.program, cancel),
        };
        let listings: Vec<Result<Listing, String>> = listables.par_iter().map(list).collect();
        self.session.go_on()?;
        let fresh: Vec<(Digest, Vec<u8>)> = listables
            .iter()
            .zip(&listings)
            .filter(|(listable, _)| known(listable).is_none())
            .filter_map(|(listable, listing)| {
                Some((listable.key, encode_listing(&listing.as_ref().ok()?.tests)))
            })
            .collect();
        self.session.store().put_blobs(LISTING_KIND, &fresh).context("cannot record lists of tests")?;
        Ok(listings)
    }

    /// By program the tests that it listed in the newest state.
    fn last_lists(&self) -> anyhow::Result<HashMap<String, Vec<ListedTest>>> {
        let store = self.session.store();
        let Some(latest) = store.latest_state()? else { return Ok(HashMap::new()) };
        let entries = store.state(latest.id)?.manifest.into_iter();
        let entries: Vec<_> = entries.filter(|entry| entry.kind == LISTING_KIND).collect();
        let keys: Vec<Digest> = entries.iter().map(|entry| entry.key).collect();
        let blobs = store.blobs(LISTING_KIND, &keys)?;
        let listed = |key: &Digest| decode_listing(blobs.get(key)?);
        Ok(entries.into_iter().filter_map(|entry| Some((entry.name, listed(&entry.key)?))).collect())
    }

    /// The tests that can be seen in the program itself, without asking it; `None` where there may be others.
    fn seen(&self, target: &Target) -> Option<Listing> {
        let has_tests = |summary: &ImageSummary| summary.is_library && summary.holds_tests;
        let is_in_library = self.tree.images.iter().any(|image| has_tests(&image.summary));
        let program = read_file(&self.directory.path.join(&target.name)).ok().filter(|_| !is_in_library)?;
        Some(Listing { tests: plain_tests(&program)?, unknown: None })
    }

    fn add_googletest(&mut self, listable: Listable, listing: &Listing) {
        let Listable { target, program, circumstances, key } = listable;
        let Listing { tests: listed, unknown } = listing;
        if let Some(cause) = unknown {
            self.examined.notes.push(format!("{}: {cause}", target.name));
            let whole = TestId::new(&target.name, WHOLE_PROGRAM);
            let test = self.whole_program(&target, &whole, cause.clone());
            self.add(test, Starter::Unlisted(program.clone()), circumstances);
        }
        self.examined.listings.push((target.name.clone(), key));
        let runs_each = self.entries.of(&target.name).is_some_and(Alike::runs_each_test);
        let meant = self.meant(&target.name, listed);
        let meant = meant.as_deref().unwrap_or(listed.as_slice());
        let tests = self.examined.analysis.googletest_tests(&target, meant);
        let own_way =
            if runs_each { OwnWay::Test } else { whole_program_of(&tests, meant.len() == listed.len()) };
        let program = self.add_program(program, Some(own_way));
        let names = repeated(tests.iter().map(|test| test.id.name.as_str()));
        for (order, mut test) in tests.into_iter().enumerate() {
            if names.contains(&test.id.name) {
                let cause = "several tests of its program have this name, and nothing tells them apart";
                test.mapping = Mapping::Unmapped { cause: cause.to_string() };
            }
            self.add(test, Starter::GoogleTest { program, order }, circumstances);
        }
    }

    /// Those of the tests that CTest's entries mean; `None` where there are no entries. Entries of which it shows only
    /// now that they are more than their tests are left to `ctest`.
    fn meant(&mut self, target: &str, listed: &[ListedTest]) -> Option<Vec<ListedTest>> {
        let Covered { tests, others, left } = self.entries.of(target)?.cover(listed);
        left.into_iter().for_each(|entry| self.entries.leave(Some(target), entry));
        if let Some(first) = others.first() {
            self.examined.notes.push(format!(
                "{target}: no CTest entry runs {} of its tests, such as {first}, so they are not run",
                others.len()
            ));
        }
        Some(tests)
    }

    /// The program cannot say which tests it has: those recorded last stand for them, and all of them run. Entries of
    /// CTest run it as they say.
    fn add_unlistable(&mut self, listable: Listable, cause: String) -> anyhow::Result<()> {
        let Listable { target, program, circumstances, .. } = listable;
        self.examined.notes.push(format!("{}: {cause}", target.name));
        if self.entries.leave_all(&target.name) {
            return Ok(());
        }
        let known = self.recorded_tests(&target.name)?;
        if known.is_empty() {
            let whole = TestId::new(&target.name, WHOLE_PROGRAM);
            let test = self.whole_program(&target, &whole, cause);
            self.add(test, Starter::Unlisted(program), circumstances);
            return Ok(());
        }
        let program = self.add_program(program, None);
        for (order, id) in known.into_iter().enumerate() {
            let test = self.whole_program(&target, &id, cause.clone());
            self.add(test, Starter::GoogleTest { program, order }, circumstances);
        }
        Ok(())
    }

    /// A test with the whole program as its content. It always runs if the program was asked in vain.
    fn whole_program(&self, target: &Target, id: &TestId, cause: String) -> TestNode {
        let test = self.examined.analysis.program_test(target, &id.name, false);
        match self.session.starts {
            Starts::Nothing => test,
            Starts::Project => TestNode { mapping: Mapping::Unmapped { cause }, ..test },
        }
    }

    /// The GoogleTest tests of a program in the newest state; those that were disabled stay away by their name.
    fn recorded_tests(&self, target: &str) -> anyhow::Result<Vec<TestId>> {
        let store = self.session.store();
        let Some(latest) = store.latest_state()? else { return Ok(Vec::new()) };
        let snapshot: Snapshot = store.state(latest.id)?.snapshot;
        let is_disabled = |id: &TestId| id.name.starts_with("DISABLED_") || id.name.contains(".DISABLED_");
        Ok(snapshot
            .into_keys()
            .filter(|id| id.target == target && id.name.contains('.') && !is_disabled(id))
            .collect())
    }

    fn add_single(&mut self, single: SingleEntry) {
        let SingleEntry { mut id, entry, target } = single;
        if self.examined.starters.contains_key(&id) {
            id.name.push_str(" (ctest)");
        }
        let needed: Vec<SingleEntry> =
            entry.needs.iter().filter_map(|number| self.entries.needed.get(number).cloned()).collect();
        let mut test = self.started_by(id, &entry, target.as_deref());
        let mut circumstances = self.how_started(&entry, target.as_deref());
        for needed in needed {
            let SingleEntry { id, entry, target } = needed;
            let how = self.how_started(&entry, target.as_deref());
            circumstances = circumstances::with(circumstances, Some(how));
            let with = self.started_by(id, &entry, target.as_deref());
            test.roots.extend(with.roots);
            if let (Mapping::Mapped, Mapping::Unmapped { cause }) = (&test.mapping, with.mapping) {
                let cause = format!("CTest runs {} along with it: {cause}", entry.name);
                test.mapping = Mapping::Unmapped { cause };
            }
        }
        test.roots.sort_unstable();
        test.roots.dedup();
        self.add(test, Starter::Ctest(entry), Some(circumstances));
    }

    fn how_started(&self, entry: &CtestEntry, target: Option<&str>) -> Digest {
        let circumstances = circumstances::of_entry(&self.session.project.root, entry);
        let everything = || *self.everything.get_or_init(|| everything(self.tree, &self.examined.analysis));
        circumstances::with(circumstances, target.is_none().then(everything))
    }

    /// An entry as a test: all of the program of the build that it starts.
    fn started_by(&self, id: TestId, entry: &CtestEntry, target: Option<&str>) -> TestNode {
        let analysis = &self.examined.analysis;
        let target = target.and_then(|name| analysis.targets().iter().find(|target| target.name == name));
        let Some(target) = target else {
            let cause = match entry.command.first() {
                Some(command) => {
                    let name = Path::new(command).file_name().unwrap_or_default().to_string_lossy();
                    format!("CTest starts {name}, which is not a program of the build")
                }
                None => "its program has not been built".to_string(),
            };
            return Analysis::unmapped_test(id, cause, entry.disabled);
        };
        let mut test = analysis.program_test(target, &id.name, entry.disabled);
        if !is_executable(&self.directory.path.join(&target.name)) {
            let cause = "its program may not be executed: give it back the right with chmod +x".to_string();
            test.mapping = Mapping::Unmapped { cause };
        }
        test
    }

    fn add_program(&mut self, program: TestProgram, own_way: Option<OwnWay>) -> usize {
        self.examined.programs.push(ListedProgram { program, own_way });
        self.examined.programs.len() - 1
    }

    fn add(&mut self, test: TestNode, starter: Starter, circumstances: Option<Digest>) {
        if self.examined.starters.insert(test.id.clone(), starter).is_some() {
            return;
        }
        if let Some(circumstances) = circumstances {
            self.examined.circumstances.insert(test.id.clone(), circumstances);
        }
        self.examined.tests.push(test);
    }
}

impl Examined<'_> {
    /// Tests of which it is not known what they reach, with the cause.
    pub fn unmapped(&self) -> impl Iterator<Item = (&TestId, &str)> {
        self.tests.iter().filter_map(|test| match &test.mapping {
            Mapping::Unmapped { cause } => Some((&test.id, cause.as_str())),
            Mapping::Mapped => None,
        })
    }
}

/// What a program says of its tests.
fn listed(program: &TestProgram, cancel: &Cancel) -> Result<Listing, String> {
    let tests = googletest::list(program, LISTING_TIMEOUT, cancel).map_err(|error| {
        let cause = format!("the program cannot list its tests: {}", error.kind);
        first_line(&cause).to_string()
    })?;
    Ok(Listing { tests: tests.into_iter().map(as_listed).collect(), unknown: None })
}

fn as_listed(test: googletest::ListedTest) -> ListedTest {
    ListedTest {
        suite: test.suite,
        test: test.test,
        type_parameter: test.type_parameter,
        has_value_parameter: test.value_parameter.is_some(),
        is_disabled: test.disabled,
    }
}

/// All tests of a program that are not disabled, in one process.
fn whole_program_of(tests: &[TestNode], is_unfiltered: bool) -> OwnWay {
    let enabled = tests.iter().filter(|test| !test.disabled);
    OwnWay::Program { tests: enabled.map(|test| test.id.name.clone()).collect(), is_unfiltered }
}

/// The names that occur more than once.
fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> HashSet<String> {
    let mut seen = HashSet::new();
    names.filter(|name| !seen.insert(*name)).map(str::to_string).collect()
}

fn is_executable(program: &Path) -> bool {
    program.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Without the output that comes after it.
fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or(text);
    line.strip_suffix("; it printed:").unwrap_or(line)
}
