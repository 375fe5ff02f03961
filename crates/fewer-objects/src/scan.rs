//! Finding and summarising what a build left behind: object files, members of archives, programs and shared
//! libraries. Files are read in parallel; what the cache already knows by content is not read again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use fewer_core::{Digest, Lazy};
use object::read::archive::ArchiveFile;
use rayon::prelude::*;

use crate::bitcode::{is_bitcode, read_bitcode};
use crate::content_key::{content_of_unread, image_content, object_key};
use crate::encoding::KeptBytes;
use crate::file_bytes::{FileBytes, read_file, read_part};
use crate::file_records::{FileRecords, Held, Member, Status};
use crate::found::{Found, FoundKind, find, given};
use crate::image::{ImageSummary, read_image};
use crate::in_order::make_in_order;
use crate::kept::{Kept, KeptImage};
use crate::pack::{Divided, Pack, Packer};
use crate::reader::{opaque, read_object};
use crate::relocatable::{FileKind, peek};
use crate::renewal::{LinkedFile, Renewal};
use crate::summary::ObjectSummary;

/// Kinds of cached summaries.
pub const OBJECT_KIND: &str = "object";
pub const IMAGE_KIND: &str = "image";
pub const PACK_KIND: &str = "pack";

/// Where summaries are kept between runs, by the content they were made from.
pub trait SummaryCache: Send + Sync {
    fn load(&self, kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>>;
    /// Whether there is one under each of the keys.
    fn has_all(&self, kind: &str, keys: &[Digest]) -> bool {
        let there = self.load(kind, keys);
        keys.iter().all(|key| there.contains_key(key))
    }
    /// Keeps summaries; what is there under the same key is replaced.
    fn save(&self, kind: &str, summaries: &[(Digest, Vec<u8>)]);
    /// What was kept last under a key, where it lies. For what is large and can be made again.
    fn kept(&self, key: Digest) -> Option<KeptBytes>;
    /// Keeps such content, in place of what was kept under the key.
    fn keep(&self, key: Digest, content: &[u8]);
}

/// A member of Rust's libraries.
const RUST_METADATA: &str = "lib.rmeta";

/// A cache that keeps nothing.
pub struct NoCache;

impl SummaryCache for NoCache {
    fn load(&self, _kind: &str, _keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        HashMap::new()
    }

    fn save(&self, _kind: &str, _summaries: &[(Digest, Vec<u8>)]) {}

    fn kept(&self, _key: Digest) -> Option<KeptBytes> {
        None
    }

    fn keep(&self, _key: Digest, _content: &[u8]) {}
}

/// A summary with the file it stands for.
#[derive(Clone, Debug)]
pub struct Scanned<T> {
    /// Path below the build directory; `lib.a(member.o)` for a member of an archive.
    pub name: String,
    pub key: Digest,
    pub modified: Option<SystemTime>,
    pub summary: Lazy<T>,
}

/// Elements that several objects hold, with the key they are kept under.
#[derive(Clone, Debug)]
pub struct Packed {
    pub key: Digest,
    pub pack: Pack,
}

/// Everything found under a build directory, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct BuildTree {
    pub objects: Vec<Scanned<ObjectSummary>>,
    /// What the objects' lists of common elements refer to.
    pub packs: Lazy<Vec<Packed>>,
    pub images: Vec<Scanned<ImageSummary>>,
    /// How many objects were read rather than taken from the cache.
    pub files_read: usize,
    /// How many linked files were read.
    pub images_read: usize,
    pub bytes: u64,
    pub notes: Vec<String>,
    directory: PathBuf,
    /// By name the files that are not where their names say.
    elsewhere: HashMap<String, PathBuf>,
    /// Per image its bytes, and its content, once somebody asked for them.
    image_files: Vec<Opened>,
    contents: Vec<OnceLock<Digest>>,
    /// Per image its status, where that will tell when it changes.
    statuses: Vec<Option<Status>>,
    /// What stands for most of an analysis, where the last one of this directory still holds.
    pub(crate) renewal: Option<Arc<Renewal>>,
    keeper: Keeper,
}

/// Where an analysis is kept for the next one, if it is.
#[derive(Clone, Default)]
struct Keeper(Option<Arc<dyn SummaryCache>>);

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "kept" } else { "not kept" })
    }
}

impl BuildTree {
    /// A recorded state. `None` if an object refers to a pack that is not given.
    pub fn of_record(
        objects: Vec<Scanned<ObjectSummary>>,
        packs: Vec<Packed>,
        images: Vec<Scanned<ImageSummary>>,
    ) -> Option<BuildTree> {
        let numbered = |object: Scanned<ObjectSummary>| {
            let mut summary = object.summary.into_inner();
            summary.number_packs(&packs).then(|| Scanned { summary: summary.into(), ..object })
        };
        let objects = objects.into_iter().map(numbered).collect::<Option<_>>()?;
        Some(BuildTree { objects, packs: packs.into(), images, ..BuildTree::default() })
    }

    /// The keys of the packs; without reading them, where they are known to be there.
    pub fn pack_keys(&self) -> Vec<Digest> {
        match (self.packs.if_made(), &self.renewal) {
            (None, Some(renewal)) => renewal.kept.packs.clone(),
            (Some(_), _) | (None, None) => self.packs.iter().map(|packed| packed.key).collect(),
        }
    }

    /// Where to keep what the analysis of the tree found, and under which directory; with the status of each image.
    pub(crate) fn keeper(&self) -> Option<(&dyn SummaryCache, &Path, &[Option<Status>])> {
        Some((self.keeper.0.as_deref()?, &self.directory, &self.statuses))
    }

    /// Where a file lies that was found below the build directory, or given by name.
    pub fn path_of(&self, build_directory: &Path, name: &str) -> PathBuf {
        self.elsewhere.get(name).cloned().unwrap_or_else(|| build_directory.join(name))
    }

    /// The bytes of a linked file, if it is there and can be read.
    pub fn image_bytes(&self, image: usize) -> Option<&[u8]> {
        self.image_files.get(image)?.bytes()
    }

    /// All of a linked file that can matter when it runs. Reads the file when it is first asked for.
    pub fn image_content(&self, image: usize) -> Digest {
        let read = || match self.image_files.get(image) {
            Some(opened) => opened.bytes().map_or_else(|| content_of_unread(&opened.path), image_content),
            None => image_content(b""),
        };
        self.contents.get(image).map_or_else(read, |content| *content.get_or_init(read))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}. Check that the build directory exists and that you may read it")]
pub struct ScanError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// One object, in a file of its own or inside an archive.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) key: Digest,
    modified: Option<SystemTime>,
    file: usize,
    /// The part of the file, for a member of an archive.
    range: Option<std::ops::Range<usize>>,
    pub(crate) is_bitcode: bool,
}

/// A file by the name that it goes by in the graph, wherever it lies.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NamedFile {
    pub name: String,
    pub path: PathBuf,
}

/// Reads a build directory.
pub fn scan(build_directory: &Path, cache: &dyn SummaryCache) -> Result<BuildTree, ScanError> {
    Ok(Listed::of(build_directory, cache)?.read(cache))
}

/// Reads of a build directory what the last analysis of it does not know; the rest when somebody looks at it. What
/// the analysis of the tree finds is kept for the next one.
pub fn scan_again(build_directory: &Path, cache: Arc<dyn SummaryCache>) -> Result<BuildTree, ScanError> {
    let listed = Listed::of(build_directory, &*cache)?;
    let mut tree = match Kept::load(&*cache, build_directory).and_then(|kept| listed.renewal(kept, &*cache)) {
        Some(renewal) => listed.read_later(renewal, cache.clone()),
        None => listed.read(&*cache),
    };
    tree.keeper = Keeper(Some(cache));
    Ok(tree)
}

/// Reads just these files of a build that leaves more behind than it uses.
pub fn scan_files(build_directory: &Path, files: &[NamedFile], cache: &dyn SummaryCache) -> BuildTree {
    let find =
        |known: &FileRecords, records: &mut FileRecords, began| Ok(given(files, known, records, began));
    let listed = Listed::found_by(build_directory, cache, find);
    let mut tree = listed.map(|listed| listed.read(cache)).unwrap_or_default();
    tree.elsewhere = files.iter().map(|file| (file.name.clone(), file.path.clone())).collect();
    tree
}

/// The files of a build with what each holds, before any is summarised.
struct Listed {
    directory: PathBuf,
    found: Vec<Found>,
    files: Vec<Opened>,
    notes: Vec<String>,
    objects: Vec<Input>,
    /// Which of the files are linked ones.
    images: Vec<usize>,
    began: SystemTime,
}

impl Listed {
    fn of(build_directory: &Path, cache: &dyn SummaryCache) -> Result<Listed, ScanError> {
        Listed::found_by(build_directory, cache, |known, records, began| {
            find(build_directory, known, records, began)
        })
    }

    fn found_by(
        build_directory: &Path,
        cache: &dyn SummaryCache,
        find: impl FnOnce(&FileRecords, &mut FileRecords, SystemTime) -> Result<Vec<Found>, ScanError>,
    ) -> Result<Listed, ScanError> {
        let began = SystemTime::now();
        let known = FileRecords::load(cache, build_directory);
        let mut records = FileRecords::default();
        let found = find(&known, &mut records, began)?;
        let (files, notes) = open_files(&found, build_directory);
        for (entry, file) in found.iter().zip(&files) {
            if let Some(held) = file.held.as_ref().filter(|_| file.is_lasting) {
                records.remember(&entry.name, entry.status, held.clone(), began);
            }
        }
        if records != known {
            records.save(cache, build_directory);
        }
        let (objects, images) = inputs(&found, &files);
        Ok(Listed { directory: build_directory.to_path_buf(), found, files, notes, objects, images, began })
    }

    fn read(self, cache: &dyn SummaryCache) -> BuildTree {
        let read = read_objects(cache, &self.objects, &self.files);
        let summaries: Vec<Lazy<ObjectSummary>> = read.summaries.into_iter().map(Lazy::from).collect();
        let images = read_images(cache, &self.images, &self.found, &self.files);
        let mut tree = self.tree(summaries, images);
        tree.files_read = read.files_read;
        tree.images_read = tree.images.len();
        tree.packs = read.packs.into();
        tree
    }

    /// What of the last analysis still holds, if it is most.
    fn renewal(&self, kept: Kept, cache: &dyn SummaryCache) -> Option<Renewal> {
        let images: Vec<LinkedFile<'_>> = self
            .images
            .iter()
            .map(|&file| LinkedFile {
                name: &self.found[file].name,
                status: self.settled_status(file),
                opened: &self.files[file],
            })
            .collect();
        Renewal::of(kept, &self.objects, &self.files, &images, cache)
    }

    /// The tree of a build of which most is as it was: nothing is read before somebody looks at it.
    fn read_later(self, renewal: Renewal, cache: Arc<dyn SummaryCache>) -> BuildTree {
        let image = |(&file, kept): (&usize, &KeptImage)| {
            let Found { name, modified, .. } = &self.found[file];
            let opened = self.files[file].clone();
            let symbols = Lazy::new(move || read_image(opened.bytes().unwrap_or(b"")).symbols.share());
            let summary = ImageSummary { symbols, ..kept.summary.clone() };
            Scanned {
                name: name.clone(),
                key: kept.summary.encode().0,
                modified: *modified,
                summary: summary.into(),
            }
        };
        let images = self.images.iter().zip(&renewal.kept.images).map(image).collect();
        let (objects, files) = (self.objects.clone(), self.files.clone());
        let read: Lazy<ReadObjects> = Lazy::new(move || Arc::new(read_objects(&*cache, &objects, &files)));
        let summary = |object: usize| {
            let read = read.clone();
            Lazy::new(move || Arc::new(read.summaries[object].clone()))
        };
        let summaries = (0..self.objects.len()).map(summary).collect();
        let mut tree = self.tree(summaries, images);
        tree.files_read = renewal.changed.len();
        tree.images_read = renewal.is_relinked.iter().filter(|is_relinked| **is_relinked).count();
        tree.packs = Lazy::new(move || Arc::new(read.packs.clone()));
        tree.renewal = Some(Arc::new(renewal));
        tree
    }

    fn tree(self, summaries: Vec<Lazy<ObjectSummary>>, images: Vec<Scanned<ImageSummary>>) -> BuildTree {
        let scanned = |(input, summary): (&Input, _)| Scanned {
            name: input.name.clone(),
            key: input.key,
            modified: input.modified,
            summary,
        };
        BuildTree {
            objects: self.objects.iter().zip(summaries).map(scanned).collect(),
            contents: vec![OnceLock::new(); images.len()],
            image_files: self.images.iter().map(|&file| self.files[file].clone()).collect(),
            statuses: self.images.iter().map(|&file| self.settled_status(file)).collect(),
            images,
            bytes: self.found.iter().map(|file| file.size).sum(),
            notes: self.notes,
            directory: self.directory,
            ..BuildTree::default()
        }
    }

    fn settled_status(&self, file: usize) -> Option<Status> {
        Some(self.found[file].status).filter(|status| status.is_settled(self.began))
    }
}

/// A found file with what it holds, and its bytes if they were needed.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    path: PathBuf,
    held: Option<Held>,
    /// Whether what it holds follows from its bytes alone.
    is_lasting: bool,
    bytes: Arc<OnceLock<Option<FileBytes>>>,
}

impl Opened {
    /// Reads the file when it is first asked for, and keeps what was read.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.get_or_init(|| read_file(&self.path).ok()).as_deref()
    }
}

/// What each file holds, read where it is not remembered; and what is wrong with some.
fn open_files(found: &[Found], root: &Path) -> (Vec<Opened>, Vec<String>) {
    let opened: Vec<(Opened, Vec<String>)> = found
        .par_iter()
        .map(|entry| {
            let path = entry.path.clone();
            if entry.known.is_some() {
                let held = entry.known.clone();
                return (Opened { path, held, is_lasting: true, bytes: Arc::default() }, Vec::new());
            }
            let read = read_file(&path);
            let (held, notes) = match &read {
                Ok(bytes) => hold(entry, bytes, root),
                Err(error) => {
                    let held = (entry.kind == FoundKind::Image).then_some(Held::Image);
                    (held, vec![format!("{} cannot be read ({error})", entry.name)])
                }
            };
            let is_lasting = notes.is_empty() && !read.as_ref().is_ok_and(|bytes| is_thin(bytes));
            // To read an object again costs less than the memory for all of them.
            let is_kept = entry.kind == FoundKind::Image;
            let bytes = if is_kept { OnceLock::from(read.ok()) } else { OnceLock::new() };
            (Opened { path, held, is_lasting, bytes: Arc::new(bytes) }, notes)
        })
        .collect();
    let mut notes = Vec::new();
    let keep_notes = |(file, problems): (Opened, Vec<String>)| {
        notes.extend(problems);
        file
    };
    (opened.into_iter().map(keep_notes).collect(), notes)
}

fn hold(entry: &Found, bytes: &[u8], root: &Path) -> (Option<Held>, Vec<String>) {
    let object = |is_bitcode| (Some(Held::Object { key: object_key(bytes), is_bitcode }), Vec::new());
    match entry.kind {
        FoundKind::Object => object(false),
        FoundKind::Bitcode => object(true),
        FoundKind::Image => (Some(Held::Image), Vec::new()),
        FoundKind::Archive => {
            let (members, notes) = members(entry, bytes, root);
            (Some(Held::Archive(members)), notes)
        }
    }
}

/// The objects among the files, with the digest of what matters in each; and which files are images.
fn inputs(found: &[Found], files: &[Opened]) -> (Vec<Input>, Vec<usize>) {
    let mut objects: Vec<Input> = Vec::new();
    let mut images = Vec::new();
    for (file, (entry, opened)) in found.iter().zip(files).enumerate() {
        let input = |name: &str, key, is_bitcode, range| Input {
            name: name.to_string(),
            key,
            modified: entry.modified,
            file,
            range,
            is_bitcode,
        };
        match &opened.held {
            None | Some(Held::Other) => {}
            Some(Held::Object { key, is_bitcode }) => {
                objects.push(input(&entry.name, *key, *is_bitcode, None));
            }
            Some(Held::Image) => images.push(file),
            Some(Held::Archive(members)) => objects.extend(members.iter().map(|member| {
                let name = format!("{}({})", entry.name, member.name);
                input(&name, member.key, member.is_bitcode, Some(member.range.clone()))
            })),
        }
    }
    // A member of an archive that also lies beside it as a file is one object.
    let mut seen = HashSet::new();
    objects.sort_by(|a, b| (a.name.contains('('), &a.name).cmp(&(b.name.contains('('), &b.name)));
    objects.retain(|input| seen.insert(input.key) || !input.name.contains('('));
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    (objects, images)
}

/// Whether it is an archive that names its members instead of holding them.
fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<thin>\n")
}

/// The members of a static archive. Members of a thin one are files of their own, found by the walk when they
/// lie in the build directory.
fn members(entry: &Found, file: &[u8], root: &Path) -> (Vec<Member>, Vec<String>) {
    let mut members = Vec::new();
    let mut notes = Vec::new();
    let archive = match ArchiveFile::parse(file) {
        Ok(archive) => archive,
        Err(error) => {
            notes.push(format!("{} is not a readable archive ({error})", entry.name));
            return (members, notes);
        }
    };
    for member in archive.members() {
        let Ok(member) = member else {
            notes.push(format!("{} is damaged: some of its members cannot be read", entry.name));
            break;
        };
        let member_name = lasting_name(&String::from_utf8_lossy(member.name()));
        if member.is_thin() {
            let path = entry.path.parent().unwrap_or(root).join(&member_name);
            if !path.exists() {
                notes.push(format!("{} names {member_name}, which is gone", entry.name));
            }
            continue;
        }
        let (start, size) = member.file_range();
        let (start, end) = (start as usize, (start as usize).saturating_add(size as usize));
        let Some(bytes) = file.get(start..end) else { continue };
        // Tells other compilations of the library; nothing of it is linked.
        if member_name == RUST_METADATA {
            continue;
        }
        let is_bitcode = is_bitcode(bytes);
        if peek(bytes) == Some(FileKind::Relocatable) || is_bitcode {
            let key = object_key(bytes);
            members.push(Member { name: member_name, range: start..end, key, is_bitcode });
        }
    }
    (members, notes)
}

/// The name of a member without what rustc makes up anew in every compilation.
/// Example: `demo-6f83.04gc7yj3.rcgu.o` for `demo-6f83.04gc7yj3.0dxmm9k.rcgu.o`.
pub(crate) fn lasting_name(member: &str) -> String {
    const MADE_UP: usize = 7;
    let shortened = member.strip_suffix(".rcgu.o").and_then(|stem| stem.rsplit_once('.'));
    match shortened {
        Some((stem, part)) if part.len() == MADE_UP && stem.contains('.') => format!("{stem}.rcgu.o"),
        Some(_) | None => member.to_string(),
    }
}

/// The summary of an input; `None` if it is no longer what it was when its key was made.
pub(crate) fn read_input(input: &Input, files: &[Opened]) -> Option<ObjectSummary> {
    let summary = |bytes: &[u8]| if input.is_bitcode { read_bitcode(bytes) } else { read_object(bytes) };
    let bytes = read_part(&files[input.file].path, input.range.as_ref()).ok()?;
    (object_key(&bytes) == input.key).then(|| summary(&bytes))
}

/// In place of an object that is no longer what its key was made from. Nothing is kept of it.
fn changed(input: &Input) -> ObjectSummary {
    opaque(&input.key.to_bytes(), "it was changed while it was read".to_string())
}

/// How many summaries are taken from the cache at once.
const LOADED_AT_ONCE: usize = 16;

/// The summaries of all objects, in order.
struct ReadObjects {
    summaries: Vec<ObjectSummary>,
    packs: Vec<Packed>,
    files_read: usize,
}

/// Takes the summaries that the cache has, reads the other objects, and makes a pack of the elements that are in
/// none yet.
fn read_objects(cache: &dyn SummaryCache, inputs: &[Input], files: &[Opened]) -> ReadObjects {
    let (known, mut packs) = load_objects(cache, inputs);
    let missing: Vec<usize> = (0..inputs.len()).filter(|&index| known[index].is_none()).collect();
    let mut summaries: Vec<ObjectSummary> = known.into_iter().map(Option::unwrap_or_default).collect();
    if !missing.is_empty() {
        let mut packer = Packer::new(packs.iter().map(|packed| &packed.pack).collect(), missing.len());
        let mut lost = HashSet::new();
        let read = |place: usize| {
            let summary = read_input(&inputs[missing[place]], files);
            (summary.is_some(), Divided::of(summary.unwrap_or_else(|| changed(&inputs[missing[place]]))))
        };
        make_in_order(missing.len(), read, |place, (is_read, divided)| {
            summaries[missing[place]] = packer.take(divided);
            lost.extend((!is_read).then_some(missing[place]));
        });
        if let Some(pack) = packer.finish() {
            let (key, encoded) = pack.encode();
            cache.save(PACK_KIND, &[(key, encoded)]);
            packs.push(Packed { key, pack });
        }
        let fresh = |&index: &usize| (inputs[index].key, summaries[index].encode(&packs));
        let lasting = missing.par_iter().filter(|index| !lost.contains(*index));
        let fresh: Vec<(Digest, Vec<u8>)> = lasting.map(fresh).collect();
        cache.save(OBJECT_KIND, &fresh);
    }
    ReadObjects { summaries, packs, files_read: missing.len() }
}

/// The summaries that the cache has, each with all packs it needs.
fn load_objects(cache: &dyn SummaryCache, inputs: &[Input]) -> (Vec<Option<ObjectSummary>>, Vec<Packed>) {
    let keys: Vec<Digest> = inputs.iter().map(|input| input.key).collect();
    let mut summaries: Vec<Option<ObjectSummary>> = Vec::with_capacity(keys.len());
    for keys in keys.chunks(LOADED_AT_ONCE) {
        let cached = cache.load(OBJECT_KIND, keys);
        let decode = |key: &Digest| ObjectSummary::decode(cached.get(key)?);
        match cached.is_empty() {
            true => summaries.extend(keys.iter().map(|_| None)),
            false => summaries.extend(keys.par_iter().map(decode).collect::<Vec<_>>()),
        }
    }
    let mut pack_keys: Vec<Digest> =
        summaries.iter().flatten().flat_map(|summary| summary.packs.clone()).collect();
    pack_keys.sort_unstable();
    pack_keys.dedup();
    let cached = cache.load(PACK_KIND, &pack_keys);
    let decode = |&key: &Digest| Some(Packed { key, pack: Pack::decode(cached.get(&key)?)? });
    let packs: Vec<Packed> = pack_keys.iter().filter_map(decode).collect();
    for summary in &mut summaries {
        if summary.as_mut().is_some_and(|summary| !summary.number_packs(&packs)) {
            *summary = None;
        }
    }
    (summaries, packs)
}

/// A program whose tests are in libraries of the build is a test program, even if it knows nothing of GoogleTest itself.
fn note_loaded_tests(summaries: &mut [ImageSummary], names: &[&str]) {
    let mut libraries: HashMap<&str, usize> = HashMap::new();
    for (index, summary) in summaries.iter().enumerate().filter(|(_, summary)| summary.is_library) {
        libraries.insert(names[index].rsplit('/').next().unwrap_or(names[index]), index);
        libraries.insert(&summary.soname, index);
    }
    let loads_tests = |program: &ImageSummary| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&ImageSummary> = vec![program];
        while let Some(summary) = open.pop() {
            for library in summary.needed.iter().filter_map(|needed| libraries.get(needed.as_str())) {
                if reached.insert(*library) {
                    open.push(&summaries[*library]);
                }
            }
        }
        reached.iter().any(|library| summaries[*library].holds_tests)
    };
    let test_programs: Vec<usize> = (0..summaries.len())
        .filter(|&index| !summaries[index].is_library && !summaries[index].has_googletest)
        .filter(|&index| loads_tests(&summaries[index]))
        .collect();
    test_programs.into_iter().for_each(|index| summaries[index].has_googletest = true);
}

/// Linked files are read every time: that costs no more than to keep and load all their symbols. What is kept is
/// what a recorded state needs of them.
fn read_images(
    cache: &dyn SummaryCache,
    images: &[usize],
    found: &[Found],
    files: &[Opened],
) -> Vec<Scanned<ImageSummary>> {
    let read = |&file: &usize| read_image(files[file].bytes().unwrap_or(b""));
    let mut summaries: Vec<ImageSummary> = images.par_iter().map(read).collect();
    let names: Vec<&str> = images.iter().map(|&file| found[file].name.as_str()).collect();
    note_loaded_tests(&mut summaries, &names);
    let kept: Vec<(Digest, Vec<u8>)> = summaries.iter().map(ImageSummary::encode).collect();
    let keys: Vec<Digest> = kept.iter().map(|(key, _)| *key).collect();
    let known = cache.load(IMAGE_KIND, &keys);
    let fresh: Vec<_> = kept.into_iter().filter(|(key, _)| !known.contains_key(key)).collect();
    cache.save(IMAGE_KIND, &fresh);
    let scanned = |((&file, key), summary): ((&usize, Digest), ImageSummary)| {
        let Found { name, modified, .. } = &found[file];
        Scanned { name: name.clone(), key, modified: *modified, summary: summary.into() }
    };
    images.iter().zip(keys).zip(summaries).map(scanned).collect()
}
