//! Whether what is built is what the sources say. Times of files tell, unless somebody knows better: Ninja, which keeps a
//! log of its own, or a record of a commit with the same object and the same sources.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use fewer_core::Digest;
use fewer_objects::BuildTree;
use fewer_objects::scan::{IMAGE_KIND, OBJECT_KIND};
use fewer_store::{StateInfo, Store, StoreError};

use crate::cmake_targets::linked_from;
use crate::data_files::{is_code, is_for_people, is_header, is_hidden, listed, may_be_data};
use crate::dependencies::{Dependencies, Older, called_after};
use crate::project::Project;
use crate::provenance::Provenance;
use crate::record::provenance_of;
use crate::session::Session;
use crate::settings::FILE_NAME;

/// How many recorded states are asked whether they had the same object.
const WITNESSES: u32 = 20;

/// What to do where something would build, and did not.
pub const BUILD_FIRST: &str = "build first: leave --no-build out (of `fewer select`: add --build)";

/// A sign that what is built is not what the sources say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outdated {
    /// The test program or library, or the module. Example: `tests/core_test`.
    pub program: String,
    /// What is too old. Example: `CMakeFiles/core_test.dir/lexer.cpp.o`.
    pub object: String,
    /// What is newer.
    pub file: PathBuf,
    /// Whether the object is made from the file; else it may be, or a program of it.
    pub is_certain: bool,
    /// What to do. Example: "build first: `cmake --build build --target core_test`".
    pub fix: String,
}

impl Outdated {
    pub fn note(&self, project: &Project) -> String {
        format!("{}: what is built is not what the sources say. {}", self.fact(project), sentence(&self.fix))
    }

    /// Why nothing was selected or run.
    pub fn refusal(&self, project: &Project) -> String {
        format!(
            "the build of {} is stale: {}, so what is built is not what the sources say, and the tests would be those of an \
             older state. No test was run. {}. Where the times of files mislead (what is built came from a cache or another \
             machine), --trust-build takes it as it is",
            self.program,
            self.fact(project),
            sentence(&self.fix)
        )
    }

    fn fact(&self, project: &Project) -> String {
        format!("{} is newer than {} or gone", project.shown(&self.file), self.object)
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What is built of C and C++, and what is known of it.
pub struct Built<'b> {
    pub session: &'b Session<'b>,
    pub directory: &'b Path,
    pub tree: &'b BuildTree,
    pub dependencies: &'b Dependencies,
    /// By object the programs and libraries that hold it.
    pub holders: HashMap<&'b str, Vec<&'b str>>,
    /// Programs with tests.
    pub tested: BTreeSet<&'b str>,
    /// Programs that are older than an object of theirs, with the object.
    pub not_linked: Vec<(&'b str, &'b str)>,
    /// Whether the build command has just run.
    pub has_built: bool,
}

impl Built<'_> {
    /// The first sign, certain ones first.
    pub fn outdated(&self) -> Option<Outdated> {
        let project = &self.session.project;
        let sources = Sources::of(project, self.directory);
        let mut older =
            self.dependencies.outdated(&project.top(), |object| self.holders.contains_key(object));
        older.extend(self.called_after(&sources));
        let witnesses = Witnesses::new(self.session, self.tree);
        let mut asked: HashMap<String, bool> = HashMap::new();
        let mut is_fresh =
            |program: &str| *asked.entry(program.to_string()).or_insert_with(|| self.is_fresh(program));
        // What no test can reach is only told.
        let mut untested = None;
        for older in older.into_iter().filter(|older| !witnesses.know(older)) {
            match self.program_of(&older.object) {
                Some(program) if !is_fresh(program) => return Some(self.certain(program, older)),
                Some(_) => {}
                None => untested = untested.or(Some(older)),
            }
        }
        let not_linked = self.not_linked.iter().find_map(|(program, object)| {
            let newer = match linked_from(self.directory, program) {
                Some(files) => files.into_iter().find(|file| self.is_newer(file, program))?,
                None => self.directory.join(object),
            };
            let is_stale =
                self.tested.contains(program) && !witnesses.know_link(program, object) && !is_fresh(program);
            is_stale.then_some((program, newer))
        });
        if let Some((program, file)) = not_linked {
            return Some(self.certain(program, Older { object: program.to_string(), file }));
        }
        let untested = untested.map(|older| Outdated { is_certain: false, ..self.certain("", older) });
        match self.newer_than_everything(&sources) {
            Some(outdated) if outdated.is_certain => Some(outdated),
            outdated => untested.or(outdated),
        }
    }

    fn is_newer(&self, file: &Path, program: &str) -> bool {
        modified(file) > modified(&self.directory.join(program))
    }

    fn certain(&self, program: &str, older: Older) -> Outdated {
        let Older { object, file } = older;
        let program = self.session.project.shown(&self.directory.join(program));
        let fix = self.fix(&object);
        Outdated { program, object, file, is_certain: true, fix }
    }

    /// What would build it.
    fn fix(&self, object: &str) -> String {
        let project = &self.session.project;
        let directory = project.shown(self.directory);
        let program = || object.rsplit('/').next().filter(|_| self.tested.contains(object));
        let command = cmake_target(object)
            .or_else(program)
            .filter(|_| self.directory.join("CMakeCache.txt").exists())
            .map(|target| format!("`cmake --build {directory} --target {target}`"));
        match (&project.settings.build, self.has_built, command) {
            (Some(build), true, Some(command)) => format!(
                "the build command `{}` does not build it: it may be a target that `all` leaves out. Add {command} to the \
                 command in fewer.toml",
                build.command
            ),
            (Some(build), true, None) => format!(
                "the build command `{}` does not build it: name one in fewer.toml that does",
                build.command
            ),
            (Some(_), false, _) => BUILD_FIRST.to_string(),
            (None, _, Some(command)) => {
                format!("build first ({command}), or name the build command in fewer.toml")
            }
            (None, _, None) => "build first, or name the build command in fewer.toml".to_string(),
        }
    }

    /// The program with tests, else the library, that an object is in.
    fn program_of(&self, object: &str) -> Option<&str> {
        let holders = self.holders.get(object)?;
        let is_library = |name: &&&str| {
            self.tree.images.iter().any(|image| image.name == **name && image.summary.is_library)
        };
        let tested = holders.iter().find(|name| self.tested.contains(*name));
        tested.or_else(|| holders.iter().find(is_library)).copied()
    }

    /// Whether Ninja has nothing to do for it. Asking starts nothing of the project, which it could with make.
    fn is_fresh(&self, program: &str) -> bool {
        if !self.directory.join("build.ninja").exists() {
            return false;
        }
        let asked = Command::new("ninja")
            .args(["-n", program])
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .output();
        asked.is_ok_and(|output| {
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("no work to do")
        })
    }

    /// Objects of which it is not written down what they are made from, and the one source that is called like each.
    fn called_after(&self, sources: &Sources) -> Vec<Older> {
        let own = |object: &&str| self.holders.contains_key(object) && !object.ends_with(')');
        let unwritten: Vec<(&str, SystemTime)> =
            self.dependencies.unwritten().filter(|(object, _)| own(object)).collect();
        if unwritten.is_empty() {
            return Vec::new();
        }
        let names: Vec<&str> = unwritten.iter().map(|(object, _)| *object).collect();
        let files: Vec<&PathBuf> =
            sources.files.iter().filter(|path| is_code(path) && !is_header(path)).collect();
        let sources_of = called_after(&names, &files);
        let older = unwritten.into_iter().zip(sources_of).filter_map(|((object, made), source)| {
            let file = sources.root.join(source?);
            let is_newer = modified(&file).is_some_and(|written| written > made);
            is_newer.then(|| Older { object: object.to_string(), file })
        });
        older.collect()
    }

    /// Unless a build has just said that there is nothing to do: a source or a description of the build that is newer
    /// than everything that is built. Where it is not written down what objects are made from, code may be in them.
    fn newer_than_everything(&self, sources: &Sources) -> Option<Outdated> {
        if self.has_built {
            return None;
        }
        let newest = self.newest_product()?;
        let is_unwritten = self.dependencies.unwritten().any(|(object, _)| self.holders.contains_key(object));
        let is_newer =
            |path: &&PathBuf| modified(&sources.root.join(path)).is_some_and(|written| written > newest);
        let outdated = |file: &PathBuf, is_certain| Outdated {
            program: "everything".to_string(),
            object: "everything that is built".to_string(),
            file: sources.root.join(file),
            is_certain,
            fix: self.fix(""),
        };
        let witnesses = Witnesses::new(self.session, self.tree);
        let may_be_in = |path: &&PathBuf| is_unwritten && is_code(path) && !witnesses.know_all(path);
        let code = sources.files.iter().filter(|path| is_code(path)).filter(is_newer).find(may_be_in);
        let of_build = |path: &&PathBuf| {
            !may_be_data(path) && !is_for_people(path) && !is_header(path) && !is_hidden(path)
        };
        code.map(|file| outdated(file, true)).or_else(|| {
            let file = sources.files.iter().filter(of_build).find(is_newer)?;
            Some(outdated(file, false))
        })
    }

    /// When the build last made anything, its own plan included.
    fn newest_product(&self) -> Option<SystemTime> {
        let plans = ["build.ninja", "Makefile", "CMakeCache.txt", "config.status", ".ninja_log"];
        let planned = plans.iter().filter_map(|name| modified(&self.directory.join(name)));
        let made = self.tree.objects.iter().filter_map(|object| object.modified);
        let linked = self.tree.images.iter().filter_map(|image| image.modified);
        made.chain(linked).chain(planned).max()
    }
}

/// Of a cargo build that nobody has just made.
pub fn of_cargo(session: &Session<'_>, tree: &BuildTree, dependencies: &Dependencies) -> Option<Outdated> {
    let witnesses = Witnesses::new(session, tree);
    let older = dependencies.outdated(&session.project.top(), |_| true);
    let Older { object, file } = older.into_iter().find(|older| !witnesses.know(older))?;
    let fix = BUILD_FIRST.to_string();
    Some(Outdated { program: object.clone(), object, file, is_certain: true, fix })
}

/// The target in CMake's name of an object. Example: `t` of `sub/CMakeFiles/t.dir/a.cpp.o`.
fn cmake_target(object: &str) -> Option<&str> {
    let (_, below) = object.split_once("CMakeFiles/")?;
    below.split('/').next()?.strip_suffix(".dir")
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// The project's files, without what was built.
struct Sources {
    root: PathBuf,
    files: Vec<PathBuf>,
}

impl Sources {
    fn of(project: &Project, build_directory: &Path) -> Sources {
        let tracked = project.work_tree.as_ref().and_then(|tree| tree.tracked_files(&project.root).ok());
        let mut files = tracked.unwrap_or_else(|| listed(project));
        let is_built = |path: &Path| {
            build_directory != project.root && project.root.join(path).starts_with(build_directory)
        };
        // Nothing is built from the settings.
        files.retain(|path| !is_built(path) && path != Path::new(FILE_NAME));
        Sources { root: project.root.clone(), files }
    }
}

/// Recorded states that had the same objects and programs. Only a build that was not older than its sources is recorded for
/// a commit.
struct Witnesses<'w> {
    session: &'w Session<'w>,
    keys: HashMap<(&'static str, &'w str), Digest>,
    states: OnceCell<Vec<Witness>>,
}

/// One such state.
struct Witness {
    entries: HashMap<(String, String), Digest>,
    /// Where its parts come from, and what has changed in the working tree since; of a commit.
    sources: Option<(Provenance, HashSet<PathBuf>)>,
}

impl<'w> Witnesses<'w> {
    fn new(session: &'w Session<'w>, tree: &'w BuildTree) -> Witnesses<'w> {
        let objects = tree.objects.iter().map(|object| ((OBJECT_KIND, object.name.as_str()), object.key));
        let images = tree.images.iter().map(|image| ((IMAGE_KIND, image.name.as_str()), image.key));
        Witnesses { session, keys: objects.chain(images).collect(), states: OnceCell::new() }
    }

    /// Whether the object was made from what its sources say now.
    fn know(&self, older: &Older) -> bool {
        self.any(|witness| {
            let Some((provenance, changed)) = &witness.sources else { return false };
            let is_same = |file: &&str| !changed.contains(Path::new(file));
            self.had(witness, OBJECT_KIND, &older.object)
                && provenance.inputs(&older.object).is_some_and(|files| files.iter().all(is_same))
        })
    }

    /// Whether a program was linked with the object as both are.
    fn know_link(&self, program: &str, object: &str) -> bool {
        self.any(|witness| self.had(witness, IMAGE_KIND, program) && self.had(witness, OBJECT_KIND, object))
    }

    /// Whether everything was built as it is while a file of the project was what it is now.
    fn know_all(&self, file: &Path) -> bool {
        let file = PathBuf::from(self.session.project.below_top()).join(file);
        self.any(|witness| {
            witness.sources.as_ref().is_some_and(|(_, changed)| !changed.contains(&file))
                && self.keys.keys().all(|(kind, name)| self.had(witness, kind, name))
        })
    }

    fn had(&self, witness: &Witness, kind: &'static str, name: &str) -> bool {
        let key = self.keys.get(&(kind, name));
        key.is_some() && witness.entries.get(&(kind.to_string(), name.to_string())) == key
    }

    fn any(&self, is_so: impl Fn(&Witness) -> bool) -> bool {
        self.states.get_or_init(|| self.read().unwrap_or_default()).iter().any(is_so)
    }

    fn read(&self) -> Result<Vec<Witness>, StoreError> {
        let store = self.session.store();
        let states = store.states(WITNESSES)?;
        states.iter().map(|state| self.witness(&store, state)).collect()
    }

    fn witness(&self, store: &Store, state: &StateInfo) -> Result<Witness, StoreError> {
        let entries = store.state(state.id)?.manifest.into_iter();
        let entries = entries.map(|entry| ((entry.kind, entry.name), entry.key)).collect();
        let commit = state.commit.as_ref().filter(|_| !state.dirty);
        let changed = commit.and_then(|commit| {
            let files = self.session.project.work_tree.as_ref()?.changed_since(commit).ok()?;
            Some(files.into_iter().collect())
        });
        Ok(Witness { entries, sources: provenance_of(store, state.id).zip(changed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmakes_objects_name_their_target() {
        assert_eq!(cmake_target("sub/CMakeFiles/core_test.dir/src/a.cpp.o"), Some("core_test"));
        assert_eq!(cmake_target("lib/libcore.a(a.cpp.o)"), None);
        assert_eq!(cmake_target("core_test.p/a.cpp.o"), None);
    }
}
