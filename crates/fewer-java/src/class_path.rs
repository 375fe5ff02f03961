//! Class files of a build: directories and jars, read in parallel; what the cache knows by content is not read
//! again. Resources beside them are reported with their digests.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use fewer_core::{Digest, DigestBuilder, Domain};
use rayon::prelude::*;

use crate::class_reader::read_class;
use crate::program::{Class, Input, InputKind};
use crate::summary::{CLASS_SUMMARY_VERSION, ClassSummary};

const CLASS_FILE: Domain = Domain::new("java.file.class");
const RESOURCE: Domain = Domain::new("java.file.resource");

/// The kind of cached summaries.
pub const CLASS_KIND: &str = "java-class";

/// Where summaries are kept between runs, by the content they were made from.
pub trait SummaryCache: Sync {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>>;
    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]);

    /// Whether it is worth encoding summaries for it.
    fn keeps(&self) -> bool {
        true
    }
}

/// A cache that keeps nothing.
pub struct NoCache;

impl SummaryCache for NoCache {
    fn load(&self, _kind: &str, _keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        HashMap::new()
    }

    fn save(&self, _kind: &str, _summaries: &[(Digest, Vec<u8>)]) {}

    fn keeps(&self) -> bool {
        false
    }
}

/// A directory of classes or a jar, and the module whose classes it holds.
#[derive(Clone, Debug)]
pub struct ClassRoot {
    pub path: PathBuf,
    pub module: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ClassPathError {
    #[error("{path} cannot be read: {source}. Build the project first, or correct the path.")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{path} is not a jar that can be read: {source}. Build it again.")]
    Jar { path: PathBuf, source: zip::result::ZipError },
}

/// What was found, sorted by root and path.
#[derive(Clone, Debug, Default)]
pub struct ClassPath {
    pub classes: Vec<Class>,
    /// Under which the cache keeps each of them; empty if it keeps nothing.
    pub keys: Vec<Digest>,
    pub resources: Vec<Input>,
    /// How many class files were read rather than taken from the cache.
    pub files_read: usize,
}

/// Larger entries of jars are not classes, and may be made to exhaust memory.
const LARGEST_ENTRY: u64 = 64 << 20;

/// So many files are held in memory at once.
const BATCH: usize = 512;

struct Found {
    /// Below the root, with `/`.
    path: String,
    bytes: Vec<u8>,
}

/// Reads every class file and resource below the roots.
pub fn read_class_path(roots: &[ClassRoot], cache: &dyn SummaryCache) -> Result<ClassPath, ClassPathError> {
    let mut class_path = ClassPath::default();
    for root in roots {
        if root.path.is_dir() {
            for paths in directory(&root.path)?.chunks(BATCH) {
                let found: Result<Vec<Found>, _> =
                    paths.par_iter().map(|path| file(&root.path, path)).collect();
                class_path.add(root, found?, cache);
            }
        } else {
            class_path.add(root, jar(&root.path)?, cache);
        }
    }
    Ok(class_path)
}

impl ClassPath {
    /// Files of one root, sorted.
    fn add(&mut self, root: &ClassRoot, found: Vec<Found>, cache: &dyn SummaryCache) {
        let module: Arc<str> = match self.classes.last() {
            Some(last) if *last.module == *root.module => Arc::clone(&last.module),
            Some(_) | None => root.module.as_str().into(),
        };
        let (files, resources): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|file| file.path.ends_with(".class"));
        let files: Vec<Found> = files.into_iter().filter(|file| !is_other_version(&file.path)).collect();
        self.resources.extend(resources.into_iter().map(|file| resource(root, &file)));
        let (summaries, keys) = summaries(&files, cache, &mut self.files_read);
        self.keys.extend(keys);
        let classes = summaries.into_iter().map(|summary| Class { module: Arc::clone(&module), summary });
        self.classes.extend(classes);
    }
}

/// Copies for other versions of Java in a jar of several: they count as resources do.
fn is_other_version(path: &str) -> bool {
    path.starts_with("META-INF/versions/")
}

fn resource(root: &ClassRoot, file: &Found) -> Input {
    Input {
        name: file.path.clone(),
        digest: Digest::of(RESOURCE, &file.bytes),
        kind: InputKind::of_file(&file.path, &file.bytes),
        module: Some(root.module.clone()),
    }
}

fn summaries(
    files: &[Found],
    cache: &dyn SummaryCache,
    files_read: &mut usize,
) -> (Vec<Arc<ClassSummary>>, Vec<Digest>) {
    if !cache.keeps() {
        *files_read += files.len();
        let read = |file: &Found| Arc::new(read_class(&file.bytes, &file.path));
        return (files.par_iter().map(read).collect(), Vec::new());
    }
    // The path names classes that cannot be read.
    let key = |file: &Found| {
        DigestBuilder::new(CLASS_FILE)
            .number(u64::from(CLASS_SUMMARY_VERSION))
            .text(&file.path)
            .digest(Digest::of(CLASS_FILE, &file.bytes))
            .finish()
    };
    let keys: Vec<Digest> = files.par_iter().map(key).collect();
    let cached = cache.load(CLASS_KIND, &keys);
    let read: Vec<(Arc<ClassSummary>, Option<Vec<u8>>)> = files
        .par_iter()
        .zip(&keys)
        .map(|(file, key)| match cached.get(key).and_then(|bytes| ClassSummary::decode(bytes)) {
            Some(summary) => (Arc::new(summary), None),
            None => {
                let summary = read_class(&file.bytes, &file.path);
                let encoded = summary.encode();
                (Arc::new(summary), Some(encoded))
            }
        })
        .collect();
    let mut fresh = Vec::new();
    let mut summaries = Vec::with_capacity(read.len());
    for ((summary, encoded), &key) in read.into_iter().zip(&keys) {
        if let Some(encoded) = encoded {
            *files_read += 1;
            fresh.push((key, encoded));
        }
        summaries.push(summary);
    }
    cache.save(CLASS_KIND, &fresh);
    (summaries, keys)
}

/// The files below a directory, sorted by path.
fn directory(root: &Path) -> Result<Vec<PathBuf>, ClassPathError> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).map_err(unreadable(&directory))? {
            let entry = entry.map_err(unreadable(&directory))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(unreadable(&path))?;
            // A link to a directory above would never end.
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() || path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(files)
}

fn file(root: &Path, path: &Path) -> Result<Found, ClassPathError> {
    let bytes = fs::read(path).map_err(unreadable(path))?;
    let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    let path = if MAIN_SEPARATOR == '/' { below.into_owned() } else { below.replace(MAIN_SEPARATOR, "/") };
    Ok(Found { path, bytes })
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> ClassPathError {
    let path = path.to_path_buf();
    move |source| ClassPathError::Unreadable { path, source }
}

fn jar(path: &Path) -> Result<Vec<Found>, ClassPathError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let broken = |source| ClassPathError::Jar { path: path.to_path_buf(), source };
    let mut archive = zip::ZipArchive::new(file).map_err(broken)?;
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(broken)?;
        if entry.is_dir() {
            continue;
        }
        let name = entry.name().to_string();
        let mut bytes = Vec::new();
        let size = entry.size();
        entry.take(LARGEST_ENTRY).read_to_end(&mut bytes).map_err(|source| broken(source.into()))?;
        if size > LARGEST_ENTRY {
            bytes.extend_from_slice(&size.to_le_bytes());
        }
        found.push(Found { path: name, bytes });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
