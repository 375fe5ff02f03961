//! Where the parts of a state come from: the files that each object is compiled from, how each test is started,
//! and which tests nothing is known of. Recorded with a commit, so that a merge can be foretold without a build.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use fewer_core::{Digest, Domain, Mapping, TestId, TestNode};
use serde::{Deserialize, Serialize};

use crate::data_files::{is_code, is_for_people, may_be_data};
use crate::dependencies::Dependencies;
use crate::project::Project;

/// The kind of the recorded blob.
pub const PROVENANCE_KIND: &str = "provenance";

const PROVENANCE: Domain = Domain::new("provenance");
const VERSION: u32 = 1;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Provenance {
    version: u32,
    /// The project's directory below the top of the working tree, with a `/` behind it unless it is the top.
    prefix: String,
    /// Paths below the top of the working tree, sorted.
    files: Vec<String>,
    /// Paths of files that describe the build: every object depends on them.
    common: Vec<String>,
    /// Per object, by name, places in `files`; nothing where it is not known what the object is made from.
    objects: BTreeMap<String, Option<Vec<u32>>>,
    /// Target, name, and the digest of how the test is started, where that is special.
    started: Vec<(String, String, String)>,
    /// Target, name and cause of tests that always run.
    unmapped: Vec<(String, String, String)>,
}

impl Provenance {
    pub fn of(
        project: &Project,
        objects: Option<(&Path, &Dependencies)>,
        tests: &[TestNode],
        started: &BTreeMap<TestId, Digest>,
    ) -> Provenance {
        let mut own = OwnFiles::of(project, objects.map(|(build_directory, _)| build_directory));
        let mut files: BTreeMap<String, u32> = BTreeMap::new();
        let inputs: Vec<(&str, Option<Vec<String>>)> = objects
            .into_iter()
            .flat_map(|(_, dependencies)| dependencies.objects())
            .map(|(object, files)| (object, files.and_then(|files| own.inputs(files))))
            .collect();
        for path in inputs.iter().filter_map(|(_, inputs)| inputs.as_ref()).flatten() {
            files.entry(path.clone()).or_default();
        }
        for (place, entry) in files.values_mut().enumerate() {
            *entry = place as u32;
        }
        let places = |inputs: Vec<String>| inputs.iter().map(|path| files[path]).collect();
        let objects =
            inputs.into_iter().map(|(object, inputs)| (object.to_string(), inputs.map(places))).collect();
        let unmapped = tests.iter().filter_map(|test| match &test.mapping {
            Mapping::Unmapped { cause } => {
                Some((test.id.target.clone(), test.id.name.clone(), cause.clone()))
            }
            Mapping::Mapped => None,
        });
        Provenance {
            version: VERSION,
            prefix: own.prefix(&project.root),
            common: own.build_descriptions(|path| files.contains_key(path)),
            objects,
            started: started
                .iter()
                .map(|(id, digest)| (id.target.clone(), id.name.clone(), digest.to_string()))
                .collect(),
            unmapped: unmapped.collect(),
            files: files.into_keys().collect(),
        }
    }

    /// The files that an object is compiled from, if that is known.
    pub fn inputs(&self, object: &str) -> Option<Vec<&str>> {
        let places = self.objects.get(object)?.as_ref()?;
        places.iter().map(|&place| self.files.get(place as usize).map(String::as_str)).collect()
    }

    pub fn objects(&self) -> impl Iterator<Item = &str> {
        self.objects.keys().map(String::as_str)
    }

    /// Files that every object depends on.
    pub fn common_inputs(&self) -> impl Iterator<Item = &str> {
        self.common.iter().map(String::as_str)
    }

    /// A path below the project's directory as git has it.
    pub fn below_top(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    pub fn circumstances(&self) -> HashMap<TestId, Digest> {
        self.started
            .iter()
            .filter_map(|(target, name, digest)| Some((TestId::new(target, name), digest.parse().ok()?)))
            .collect()
    }

    /// Tests that always run, with the cause.
    pub fn unmapped(&self) -> impl Iterator<Item = (TestId, &str)> {
        self.unmapped.iter().map(|(target, name, cause)| (TestId::new(target, name), cause.as_str()))
    }

    pub fn encode(&self) -> (Digest, Vec<u8>) {
        let bytes = serde_json::to_vec(self).expect("text keys and no failing parts");
        (Digest::of(PROVENANCE, &bytes), bytes)
    }

    /// `None` for another version or damaged bytes.
    pub fn decode(bytes: &[u8]) -> Option<Provenance> {
        serde_json::from_slice(bytes).ok().filter(|provenance: &Provenance| provenance.version == VERSION)
    }
}

/// The files that a commit holds.
struct OwnFiles {
    top: PathBuf,
    paths: HashSet<PathBuf>,
    places: HashMap<PathBuf, Place>,
}

/// Whose a file is that an object is compiled from.
enum Place {
    /// Held by the commit, with its path.
    Own(String),
    /// Of the system; or gone, or never there.
    Outside,
    /// Below the top of the working tree, but not of the commit: the build made it.
    Made,
}

impl OwnFiles {
    fn of(project: &Project, build_directory: Option<&Path>) -> OwnFiles {
        let Some(tree) = &project.work_tree else {
            return OwnFiles { top: project.root.clone(), paths: HashSet::new(), places: HashMap::new() };
        };
        let top = tree.root().canonicalize().unwrap_or_else(|_| tree.root().to_path_buf());
        let build_directory = build_directory.filter(|directory| *directory != project.root);
        let is_generated =
            |path: &PathBuf| build_directory.is_some_and(|directory| top.join(path).starts_with(directory));
        let listed = tree.list_files(&top).unwrap_or_default();
        let paths = listed.into_iter().filter(|path| !is_generated(path)).collect();
        OwnFiles { top, paths, places: HashMap::new() }
    }

    fn prefix(&self, root: &Path) -> String {
        match root.strip_prefix(&self.top) {
            Ok(below) if !below.as_os_str().is_empty() => format!("{}/", below.display()),
            Ok(_) | Err(_) => String::new(),
        }
    }

    /// Files that are neither compiled nor read by tests nor written for people: those of the build.
    fn build_descriptions(&self, is_input: impl Fn(&str) -> bool) -> Vec<String> {
        let mut paths: Vec<String> = self
            .paths
            .iter()
            .filter(|path| !is_code(path) && !may_be_data(path) && !is_for_people(path))
            .filter_map(|path| path.to_str().map(str::to_string))
            .filter(|path| !is_input(path))
            .collect();
        paths.sort();
        paths
    }

    /// The inputs that a commit can change. One that the build made itself stands for inputs nobody wrote down, so
    /// nothing is known then; what lies outside of the working tree no commit changes.
    fn inputs<'f>(&mut self, files: impl Iterator<Item = &'f Path>) -> Option<Vec<String>> {
        let mut inputs = Vec::new();
        for file in files {
            let place = match self.places.get(file) {
                Some(place) => place,
                None => self
                    .places
                    .entry(file.to_path_buf())
                    .or_insert_with(|| place(&self.top, &self.paths, file)),
            };
            match place {
                Place::Own(path) => inputs.push(path.clone()),
                Place::Outside => {}
                Place::Made => return None,
            }
        }
        inputs.sort();
        inputs.dedup();
        (!inputs.is_empty()).then_some(inputs)
    }
}

/// Links are followed: a compiler may know the working tree under another name.
fn place(top: &Path, own: &HashSet<PathBuf>, file: &Path) -> Place {
    let Ok(real) = file.canonicalize() else { return Place::Outside };
    let below = |path: &Path| path.strip_prefix(top).map(Path::to_path_buf).ok();
    let candidates: Vec<PathBuf> = [below(file), below(&real)].into_iter().flatten().collect();
    match candidates.iter().find(|path| own.contains(*path)) {
        Some(path) => path.to_str().map_or(Place::Made, |path| Place::Own(path.to_string())),
        None if candidates.is_empty() => Place::Outside,
        None => Place::Made,
    }
}
