//! Class files of a build: directories and jars, read in parallel; what the cache knows by content is not read
//! again. Resources beside them are reported with their digests.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use fewer_core::{Digest, DigestBuilder, Domain};
use rayon::prelude::*;
use zip::result::ZipError;

use crate::class_reader::{opaque, read_class};
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
    Jar { path: PathBuf, source: ZipError },
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

/// Larger files and entries of jars are not looked into: they are no classes, and may be made to exhaust memory.
const LARGEST: u64 = 16 << 20;

/// So many files, and so much of them, is held in memory at once.
const BATCH: usize = 512;
const BATCH_BYTES: u64 = 64 << 20;

/// No jar unpacks to more: one that is made to takes forever.
const LARGEST_JAR: u64 = 4 << 30;

/// A file below a root, with `/` in its path.
struct Found {
    path: String,
    content: Content,
}

enum Content {
    Read(Vec<u8>),
    /// What stands for it, and why it is not read. Completes the sentence "the class ...".
    Unread(Digest, String),
}

impl Found {
    fn digest(&self, domain: Domain) -> Digest {
        match &self.content {
            Content::Read(bytes) => Digest::of(domain, bytes),
            Content::Unread(digest, _) => *digest,
        }
    }

    fn class(&self) -> ClassSummary {
        match &self.content {
            Content::Read(bytes) => read_class(bytes, &self.path),
            Content::Unread(digest, why) => opaque(&digest.to_bytes(), &self.path, why),
        }
    }
}

/// Reads every class file and resource below the roots.
pub fn read_class_path(roots: &[ClassRoot], cache: &dyn SummaryCache) -> Result<ClassPath, ClassPathError> {
    let mut class_path = ClassPath::default();
    for root in roots {
        if root.path.is_dir() {
            for paths in batches(&directory(&root.path)?) {
                let found: Result<Vec<Found>, _> =
                    paths.par_iter().map(|(path, _)| file(&root.path, path)).collect();
                class_path.add(root, found?, cache);
            }
        } else {
            jar(&root.path, |found| class_path.add(root, found, cache))?;
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
        digest: file.digest(RESOURCE),
        kind: match &file.content {
            Content::Read(bytes) => InputKind::of_file(&file.path, bytes),
            Content::Unread(..) => InputKind::Resource,
        },
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
        let read = |file: &Found| Arc::new(file.class());
        return (files.par_iter().map(read).collect(), Vec::new());
    }
    // The path names classes that cannot be read.
    let key = |file: &Found| {
        DigestBuilder::new(CLASS_FILE)
            .number(u64::from(CLASS_SUMMARY_VERSION))
            .text(&file.path)
            .digest(file.digest(CLASS_FILE))
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
                let summary = file.class();
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

/// Files in order with their sizes, so many as are held at once.
fn batches(mut files: &[(PathBuf, u64)]) -> Vec<&[(PathBuf, u64)]> {
    let mut batches = Vec::new();
    while !files.is_empty() {
        let mut size = 0;
        let fits = |(_, of_file): &&(PathBuf, u64)| {
            let is_first = size == 0;
            size += of_file.min(&LARGEST);
            is_first || size <= BATCH_BYTES
        };
        let count = files.iter().take(BATCH).take_while(fits).count();
        let (batch, rest) = files.split_at(count);
        batches.push(batch);
        files = rest;
    }
    batches
}

/// The files below a directory with their sizes, sorted by path.
fn directory(root: &Path) -> Result<Vec<(PathBuf, u64)>, ClassPathError> {
    let mut files: Vec<(PathBuf, u64)> = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).map_err(unreadable(&directory))? {
            let entry = entry.map_err(unreadable(&directory))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(unreadable(&path))?;
            if kind.is_dir() {
                open.push(path);
                continue;
            }
            // A link to a directory above would never end; one that leads nowhere is no file.
            match fs::metadata(&path) {
                Ok(metadata) if !metadata.is_dir() => files.push((path, metadata.len())),
                Ok(_) | Err(_) => {}
            }
        }
    }
    files.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
    Ok(files)
}

fn file(root: &Path, path: &Path) -> Result<Found, ClassPathError> {
    let content = match fewer_files::read_at_most(path, LARGEST) {
        Ok(bytes) => Content::Read(bytes),
        Err(error) if fewer_files::is_unreadable(&error) => {
            let digest = fewer_files::digest_of_anything(RESOURCE, path).unwrap_or_default();
            Content::Unread(digest, format!("is not read: {error}"))
        }
        Err(error) => return Err(unreadable(path)(error)),
    };
    let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    let path = if MAIN_SEPARATOR == '/' { below.into_owned() } else { below.replace(MAIN_SEPARATOR, "/") };
    Ok(Found { path, content })
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> ClassPathError {
    let path = path.to_path_buf();
    move |source| ClassPathError::Unreadable { path, source }
}

/// Gives the entries of a jar, sorted by path, some at a time.
fn jar(path: &Path, mut take: impl FnMut(Vec<Found>)) -> Result<(), ClassPathError> {
    let file = fewer_files::open(path).map_err(unreadable(path))?;
    let broken = |source| ClassPathError::Jar { path: path.to_path_buf(), source };
    let mut archive = zip::ZipArchive::new(file).map_err(broken)?;
    let names = archive.file_names().zip(0..).map(|(name, index)| (name.to_string(), index));
    let mut entries: Vec<(String, usize)> = names.filter(|(name, _)| !name.ends_with('/')).collect();
    entries.sort();
    let (mut found, mut held, mut read) = (Vec::new(), 0, 0);
    for (path, index) in entries {
        let (content, size) = entry(&mut archive, index).map_err(broken)?;
        read += size;
        held += size;
        found.push(Found { path, content });
        if read > LARGEST_JAR {
            let problem = format!("it unpacks to more than {} GB", LARGEST_JAR >> 30);
            return Err(broken(ZipError::InvalidArchive(problem.into())));
        }
        if held > BATCH_BYTES || found.len() == BATCH {
            take(std::mem::take(&mut found));
            held = 0;
        }
    }
    take(found);
    Ok(())
}

/// An entry, and how much was read of it. A large one is told by what is packed of it.
fn entry(archive: &mut zip::ZipArchive<File>, index: usize) -> Result<(Content, u64), ZipError> {
    let mut bytes = Vec::new();
    let declared = archive.by_index(index)?.size();
    if declared <= LARGEST {
        archive.by_index(index)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    }
    let size = bytes.len() as u64;
    if declared.max(size) <= LARGEST {
        return Ok((Content::Read(bytes), size));
    }
    let packed = archive.by_index_raw(index)?;
    let size = packed.compressed_size();
    let digest = fewer_files::digest_of_stream(RESOURCE, packed, size)?;
    let why = format!("is not read: it is larger than {} MB", LARGEST >> 20);
    Ok((Content::Unread(digest, why), size))
}
