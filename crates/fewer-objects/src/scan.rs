//! Finding and summarising what a build left behind: object files, members of archives, programs and shared
//! libraries. Files are read in parallel; what the cache already knows by content is not read again.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use fewer_core::{Digest, DigestBuilder, Domain};
use memmap2::Mmap;
use object::read::archive::ArchiveFile;
use rayon::prelude::*;

use crate::image::{ImageSummary, read_image};
use crate::reader::{opaque, read_object};
use crate::relocatable::{FileKind, peek, section_places};
use crate::summary::{ObjectSummary, SUMMARY_VERSION};

const OBJECT_FILE: Domain = Domain::new("file.object");
const IMAGE_FILE: Domain = Domain::new("file.image");

/// Kinds of cached summaries.
pub const OBJECT_KIND: &str = "object";
pub const IMAGE_KIND: &str = "image";

/// Where summaries are kept between runs, by the content they were made from.
pub trait SummaryCache: Sync {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>>;
    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]);
}

/// A cache that keeps nothing.
pub struct NoCache;

impl SummaryCache for NoCache {
    fn load(&self, _kind: &str, _keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        HashMap::new()
    }

    fn save(&self, _kind: &str, _summaries: &[(Digest, Vec<u8>)]) {}
}

/// A summary with the file it stands for.
#[derive(Clone, Debug)]
pub struct Scanned<T> {
    /// Path below the build directory; `lib.a(member.o)` for a member of an archive.
    pub name: String,
    pub key: Digest,
    pub modified: Option<SystemTime>,
    pub summary: Arc<T>,
}

/// Everything found under a build directory, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct BuildTree {
    pub objects: Vec<Scanned<ObjectSummary>>,
    pub images: Vec<Scanned<ImageSummary>>,
    /// How many files were read rather than taken from the cache.
    pub files_read: usize,
    pub bytes: u64,
    pub notes: Vec<String>,
}

/// The bytes of a linked file, by its path; for what no summary keeps.
pub fn map_file(path: &Path) -> std::io::Result<Mmap> {
    let handle = fs::File::open(path)?;
    // SAFETY: the map is read-only and short-lived; a build that rewrites the file meanwhile can at worst yield
    // a wrong digest, or end the process, as for any reader.
    unsafe { Mmap::map(&handle) }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}. Check that the build directory exists and that you may read it")]
pub struct ScanError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// A file worth reading, by its first bytes.
struct Found {
    path: PathBuf,
    name: String,
    kind: FoundKind,
    modified: Option<SystemTime>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FoundKind {
    Object,
    Bitcode,
    Archive,
    Image,
}

/// One object, in a file of its own or inside an archive.
struct Input {
    name: String,
    key: Digest,
    modified: Option<SystemTime>,
    file: usize,
    range: std::ops::Range<usize>,
    is_bitcode: bool,
}

/// Reads a build directory.
pub fn scan(build_directory: &Path, cache: &dyn SummaryCache) -> Result<BuildTree, ScanError> {
    let mut found = Vec::new();
    walk(build_directory, build_directory, &mut found)?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let mut tree = BuildTree::default();
    let (maps, mut notes) = map_files(&found);
    let (objects, images) = inputs(&found, &maps, build_directory, &mut notes);
    tree.bytes = maps.iter().flatten().map(|map| map.len() as u64).sum();
    tree.objects = summarise(cache, OBJECT_KIND, objects, &maps, &mut tree.files_read, &ObjectCodec);
    tree.images = summarise(cache, IMAGE_KIND, images, &maps, &mut tree.files_read, &ImageCodec);
    tree.notes = notes;
    Ok(tree)
}

fn walk(root: &Path, directory: &Path, found: &mut Vec<Found>) -> Result<(), ScanError> {
    let error = |source| ScanError { path: directory.to_path_buf(), source };
    for entry in fs::read_dir(directory).map_err(error)? {
        let entry = entry.map_err(error)?;
        let kind = entry.file_type().map_err(error)?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() {
            if !is_skipped_directory(&name) {
                walk(root, &path, found)?;
            }
        } else if kind.is_file()
            && !has_text_ending(&name)
            && let Some(kind) = classify(&path)
        {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            found.push(Found { path, name, kind, modified });
        }
    }
    Ok(())
}

fn is_skipped_directory(name: &str) -> bool {
    matches!(name, ".git" | ".fewer" | "CMakeTmp" | "CMakeScratch") || name.starts_with("CompilerId")
}

/// Endings of files that are never objects; opening every source file of a tree would cost more than reading.
fn has_text_ending(name: &str) -> bool {
    const ENDINGS: [&str; 22] = [
        ".h",
        ".hpp",
        ".hh",
        ".c",
        ".cc",
        ".cpp",
        ".cxx",
        ".txt",
        ".cmake",
        ".d",
        ".json",
        ".make",
        ".ts",
        ".md",
        ".py",
        ".xml",
        ".log",
        ".internal",
        ".marks",
        ".ninja",
        ".in",
        ".gch",
    ];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn classify(path: &Path) -> Option<FoundKind> {
    use std::io::Read;
    let mut head = [0u8; 64];
    let mut file = fs::File::open(path).ok()?;
    let mut filled = 0;
    while filled < head.len() {
        match file.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(_) => return None,
        }
    }
    let head = &head[..filled];
    if head.starts_with(b"!<arch>\n") || head.starts_with(b"!<thin>\n") {
        return Some(FoundKind::Archive);
    }
    if head.starts_with(b"BC\xc0\xde") || head.starts_with(b"\xde\xc0\x17\x0b") {
        return Some(FoundKind::Bitcode);
    }
    match peek(head) {
        Some(FileKind::Relocatable) => Some(FoundKind::Object),
        Some(FileKind::Image) => Some(FoundKind::Image),
        None if head.starts_with(b"\x7fELF") && path.extension().is_some_and(|ending| ending == "o") => {
            Some(FoundKind::Object)
        }
        None => None,
    }
}

fn map_files(found: &[Found]) -> (Vec<Option<Mmap>>, Vec<String>) {
    let mapped: Vec<Result<Mmap, String>> = found
        .par_iter()
        .map(|file| map_file(&file.path).map_err(|error| format!("{} cannot be read ({error})", file.name)))
        .collect();
    let mut notes = Vec::new();
    let maps = mapped.into_iter().map(|map| map.map_err(|note| notes.push(note)).ok()).collect();
    (maps, notes)
}

/// The objects and images among the files, with the digest of what matters in each.
fn inputs(
    found: &[Found],
    maps: &[Option<Mmap>],
    root: &Path,
    notes: &mut Vec<String>,
) -> (Vec<Input>, Vec<Input>) {
    let listed: Vec<(Vec<Input>, Vec<String>)> = found
        .par_iter()
        .enumerate()
        .map(|(file, entry)| {
            let Some(map) = &maps[file] else { return Default::default() };
            let single = |key: Digest, is_bitcode: bool| Input {
                name: entry.name.clone(),
                key,
                modified: entry.modified,
                file,
                range: 0..map.len(),
                is_bitcode,
            };
            match entry.kind {
                FoundKind::Object => (vec![single(content_key(OBJECT_FILE, map), false)], Vec::new()),
                FoundKind::Bitcode => (vec![single(content_key(OBJECT_FILE, map), true)], Vec::new()),
                FoundKind::Image => (vec![single(content_key(IMAGE_FILE, map), false)], Vec::new()),
                FoundKind::Archive => members(file, entry, map, root),
            }
        })
        .collect();
    let mut objects: Vec<Input> = Vec::new();
    let mut images = Vec::new();
    for ((inputs, problems), entry) in listed.into_iter().zip(found) {
        notes.extend(problems);
        match entry.kind {
            FoundKind::Image => images.extend(inputs),
            FoundKind::Object | FoundKind::Bitcode | FoundKind::Archive => objects.extend(inputs),
        }
    }
    // A member of an archive that also lies beside it as a file is one object.
    let mut seen = std::collections::HashSet::new();
    objects.sort_by(|a, b| (a.name.contains('('), &a.name).cmp(&(b.name.contains('('), &b.name)));
    objects.retain(|input| seen.insert(input.key) || !input.name.contains('('));
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    (objects, images)
}

/// The members of a static archive. Members of a thin one are files of their own, found by the walk when they
/// lie in the build directory.
fn members(file: usize, entry: &Found, map: &Mmap, root: &Path) -> (Vec<Input>, Vec<String>) {
    let mut inputs = Vec::new();
    let mut notes = Vec::new();
    let archive = match ArchiveFile::parse(&map[..]) {
        Ok(archive) => archive,
        Err(error) => {
            notes.push(format!("{} is not a readable archive ({error})", entry.name));
            return (inputs, notes);
        }
    };
    for member in archive.members() {
        let Ok(member) = member else {
            notes.push(format!("{} is damaged: some of its members cannot be read", entry.name));
            break;
        };
        let member_name = String::from_utf8_lossy(member.name()).into_owned();
        if member.is_thin() {
            let path = entry.path.parent().unwrap_or(root).join(&member_name);
            if !path.exists() {
                notes.push(format!("{} names {member_name}, which is gone", entry.name));
            }
            continue;
        }
        let (start, size) = member.file_range();
        let (start, end) = (start as usize, (start as usize).saturating_add(size as usize));
        let Some(bytes) = map.get(start..end) else { continue };
        let is_bitcode = bytes.starts_with(b"BC\xc0\xde");
        if peek(bytes) == Some(FileKind::Relocatable) || is_bitcode {
            inputs.push(Input {
                name: format!("{}({member_name})", entry.name),
                key: content_key(OBJECT_FILE, bytes),
                modified: entry.modified,
                file,
                range: start..end,
                is_bitcode,
            });
        }
    }
    (inputs, notes)
}

/// The digest of everything the readers look at: all sections but those for debuggers.
fn content_key(domain: Domain, bytes: &[u8]) -> Digest {
    let mut key = DigestBuilder::new(domain);
    key.number(SUMMARY_VERSION as u64);
    match section_places(bytes) {
        Some(sections) => {
            for section in sections {
                if section.name.starts_with(b".debug_") || section.name.starts_with(b".rela.debug_") {
                    continue;
                }
                key.bytes(section.name).number(section.kind as u64).number(section.flags);
                key.digest(Digest::of(domain, bytes.get(section.range).unwrap_or(b"")));
            }
        }
        None => {
            key.digest(Digest::of(domain, bytes));
        }
    }
    key.finish()
}

/// How one kind of file becomes a summary and back.
trait Codec<T>: Sync {
    fn read(&self, bytes: &[u8], is_bitcode: bool) -> T;
    fn encode(&self, summary: &T) -> Vec<u8>;
    fn decode(&self, bytes: &[u8]) -> Option<T>;
}

struct ObjectCodec;
struct ImageCodec;

impl Codec<ObjectSummary> for ObjectCodec {
    fn read(&self, bytes: &[u8], is_bitcode: bool) -> ObjectSummary {
        if is_bitcode {
            return opaque(
                bytes,
                "it is LLVM bitcode (clang -flto), which this version does not read".to_string(),
            );
        }
        read_object(bytes)
    }
    fn encode(&self, summary: &ObjectSummary) -> Vec<u8> {
        summary.encode()
    }
    fn decode(&self, bytes: &[u8]) -> Option<ObjectSummary> {
        ObjectSummary::decode(bytes)
    }
}

impl Codec<ImageSummary> for ImageCodec {
    fn read(&self, bytes: &[u8], _is_bitcode: bool) -> ImageSummary {
        read_image(bytes)
    }
    fn encode(&self, summary: &ImageSummary) -> Vec<u8> {
        summary.encode()
    }
    fn decode(&self, bytes: &[u8]) -> Option<ImageSummary> {
        ImageSummary::decode(bytes)
    }
}

fn summarise<T: Send + Sync>(
    cache: &dyn SummaryCache,
    kind: &str,
    inputs: Vec<Input>,
    maps: &[Option<Mmap>],
    files_read: &mut usize,
    codec: &dyn Codec<T>,
) -> Vec<Scanned<T>> {
    let keys: Vec<Digest> = inputs.iter().map(|input| input.key).collect();
    let cached = cache.load(kind, &keys);
    let summarised: Vec<(Scanned<T>, Option<Vec<u8>>)> = inputs
        .into_par_iter()
        .map(|input| {
            let known = cached.get(&input.key).and_then(|bytes| codec.decode(bytes));
            let (summary, encoded) = match known {
                Some(summary) => (summary, None),
                None => {
                    let map = maps[input.file].as_ref().expect("only mapped files become inputs");
                    let summary = codec.read(&map[input.range.clone()], input.is_bitcode);
                    let encoded = codec.encode(&summary);
                    (summary, Some(encoded))
                }
            };
            let scanned = Scanned {
                name: input.name,
                key: input.key,
                modified: input.modified,
                summary: Arc::new(summary),
            };
            (scanned, encoded)
        })
        .collect();
    let mut fresh = Vec::new();
    let mut scanned = Vec::with_capacity(summarised.len());
    for (item, encoded) in summarised {
        if let Some(encoded) = encoded {
            *files_read += 1;
            fresh.push((item.key, encoded));
        }
        scanned.push(item);
    }
    cache.save(kind, &fresh);
    scanned
}
