//! What each linked file of a build has around it: system libraries, code that no object explains, whether it is up to
//! date. What of it makes up the graph is told by `analysis`.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use fewer_core::Digest;

use crate::dissolved::ambiguous_names;
use crate::effects::Intake;
use crate::environment::LibraryFinder;
use crate::explanations::{Candidate, Explanations, Local};
use crate::foreign::{Foreign, ForeignReader};
use crate::image::{ImageSummary, ImageSymbol};
use crate::image_set::ImageSet;
use crate::intakes::NamedDigest;
use crate::known_names::NameNumber;
use crate::link::Linked;
use crate::membership::Memberships;
use crate::name_map::NameSet;
use crate::pack::{CommonSymbol, Pack};
use crate::scan::{BuildTree, Scanned};
use crate::summary::{Common, Linkage, NameKey};
use crate::surroundings::ImageSurroundings;
use crate::symbol_names::demangled;
use crate::toolchain::Toolchain;

use super::Given;

/// Which of what the project builds its code may start or load.
#[derive(Clone, Copy)]
pub(super) struct TakesIn {
    pub programs: bool,
    pub libraries: bool,
}

impl TakesIn {
    pub fn of(linked: &Linked<'_>) -> TakesIn {
        TakesIn { programs: linked.takes_in(Intake::Programs), libraries: linked.takes_in(Intake::Libraries) }
    }
}

/// Takes down the content of every file that something depends on as a whole: programs without GoogleTest or
/// out of date, and what the code of the build may start or load.
pub(super) fn note_contents(
    tree: &BuildTree,
    TakesIn { programs: starts, libraries: loads }: TakesIn,
    harnesses: &BTreeSet<String>,
    images: &mut [ImageSurroundings],
) {
    for (index, around) in images.iter_mut().enumerate() {
        let summary = &tree.images[index].summary;
        let is_harness = harnesses.contains(&around.image);
        let is_taken_in = if summary.is_library { loads } else { starts || !summary.has_googletest };
        if (is_taken_in && !is_harness) || around.stale.is_some() {
            around.content = Some(tree.image_content(index));
        }
    }
}

/// Code that cannot be seen may take in everything.
pub(super) fn add_unseen(given: &Given, images: &mut [ImageSurroundings]) {
    let programs = images.iter().filter(|around| !given.unseen.contains(&around.image));
    let programs = programs
        .filter_map(|around| Some(NamedDigest { name: around.image.clone(), digest: around.content? }));
    let all: Vec<NamedDigest> = given.files.iter().cloned().chain(programs).collect();
    for around in images.iter_mut().filter(|around| given.unseen.contains(&around.image)) {
        around.items.extend(all.iter().cloned());
    }
}

/// What linked files may hold or load that is not of the build.
pub(super) struct Around<'g> {
    pub toolchain: Option<&'g Toolchain>,
    pub library_path: Vec<std::path::PathBuf>,
    pub is_linked: bool,
}

/// What no definition of the objects explains in a linked file.
#[derive(Default)]
pub(super) struct ForeignPart {
    pub candidates: Vec<Candidate>,
    pub foreign: Foreign,
    /// What it uses of the project.
    pub called: Vec<(NameKey, u32)>,
}

/// What was found around the linked files.
pub(super) struct Surveyed {
    pub images: Vec<ImageSurroundings>,
    pub foreign: Vec<ForeignPart>,
    /// The local names that may explain a symbol that no definition explains.
    pub locals: Vec<Local>,
}

/// What each linked file has around it: system libraries, foreign code, whether it is up to date.
pub(super) fn survey(
    build_directory: &Path,
    tree: &BuildTree,
    members: &Memberships,
    linked: &Linked<'_>,
    Around { toolchain, library_path, is_linked }: Around<'_>,
) -> Surveyed {
    let others = undefined_symbols(tree, linked, toolchain);
    let locals = explaining_locals(tree, &members.direct, others.iter().flatten());
    let explanations = Explanations::of(&locals);
    let ambiguous = ambiguous_names(tree, &members.direct);
    let mut finder = LibraryFinder::new(library_path);
    let mut reader = ForeignReader::default();
    let survey_image = |((index, image), others): ((usize, &Scanned<ImageSummary>), Vec<ImageSymbol>)| {
        let mut foreign = ForeignPart::default();
        if let Some(bytes) = tree.image_bytes(index) {
            let candidate = |symbol| Candidate { symbol, is_explained: false };
            foreign.candidates = others.into_iter().map(candidate).collect();
            explanations.judge(&mut foreign.candidates, index);
            foreign.foreign = reader.read(bytes, &image.summary, &foreign.candidates);
            let nodes = |key: NameKey| linked.defined_in(key, index).map(move |node| (key, node));
            // Where tests begin at `main` too, it is a root of theirs; a harness has all tests behind it.
            let calls = foreign.foreign.calls.iter().copied().filter(|key| *key != NameKey::of(b"main"));
            foreign.called = calls.flat_map(nodes).collect();
        }
        let mut items = items(build_directory, tree, image, foreign.foreign.digest, &mut finder);
        items.extend(toolchain.map(|toolchain| toolchain.identity.clone()));
        if let Some(name) = ambiguous[index].and_then(|key| defined_name(tree, key)) {
            items.push(NamedDigest {
                name: format!(
                    "{} as a whole: several objects define {name}, and link-time optimisation hides which of them it holds",
                    image.name
                ),
                digest: tree.image_content(index),
            });
        }
        let stale = stale_object(tree, &members.direct, index, is_linked);
        let calls = called_names(&foreign.called);
        (ImageSurroundings { image: image.name.clone(), items, calls, stale, content: None }, foreign)
    };
    let (images, foreign) = tree.images.iter().enumerate().zip(others).map(survey_image).unzip();
    Surveyed { images, foreign, locals }
}

/// The names of what is called; they are sorted.
pub(super) fn called_names(called: &[(NameKey, u32)]) -> Vec<NameKey> {
    let mut names: Vec<NameKey> = called.iter().map(|(key, _)| *key).collect();
    names.dedup();
    names
}

/// Per linked file its symbols that no object of it defines.
fn undefined_symbols(
    tree: &BuildTree,
    linked: &Linked<'_>,
    toolchain: Option<&Toolchain>,
) -> Vec<Vec<ImageSymbol>> {
    let programs = linked.programs_by_name();
    let of_image = |(index, image): (usize, &Scanned<ImageSummary>)| {
        let is_defined = |symbol: &ImageSymbol, name: NameNumber| {
            programs.get(name.index()).is_some_and(|images| images.contains(index))
                || toolchain.is_some_and(|toolchain| toolchain.defines(symbol.key))
        };
        let symbols = image.summary.symbols.iter().zip(linked.names.of_image(index));
        symbols.filter(|(symbol, name)| !is_defined(symbol, **name)).map(|(symbol, _)| *symbol).collect()
    };
    tree.images.iter().enumerate().map(of_image).collect()
}

/// The system libraries that a linked file needs, and the code in it that nothing explains.
pub(super) fn items(
    build_directory: &Path,
    tree: &BuildTree,
    image: &Scanned<ImageSummary>,
    foreign: Option<Digest>,
    finder: &mut LibraryFinder,
) -> Vec<NamedDigest> {
    let is_own = |name: &str| {
        tree.images
            .iter()
            .any(|image| image.summary.soname == name || image.name.rsplit('/').next() == Some(name))
    };
    let path = tree.path_of(build_directory, &image.name);
    let origin = path.parent().unwrap_or(build_directory);
    let mut items = finder.libraries(&image.summary, origin, is_own);
    items.extend(foreign.map(|digest| NamedDigest {
        name: format!("code in {} that no object of the build explains", image.name),
        digest,
    }));
    items
}

/// The name behind a key that an object defines.
fn defined_name(tree: &BuildTree, key: NameKey) -> Option<String> {
    tree.objects.iter().find_map(|object| {
        let symbol = object.summary.symbols.iter().find(|symbol| symbol.key == key)?;
        Some(demangled(&String::from_utf8_lossy(object.summary.name(symbol.name))))
    })
}

/// The local names that may explain one of these symbols, with the linked files that their objects are part of.
fn explaining_locals<'s>(
    tree: &BuildTree,
    members: &[ImageSet],
    symbols: impl Iterator<Item = &'s ImageSymbol>,
) -> Vec<Local> {
    let asked: NameSet =
        symbols.filter(|symbol| !symbol.entry.is_global()).map(|symbol| symbol.key).collect();
    let mut locals = Vec::new();
    for (object, (file, images)) in (0..).zip(tree.objects.iter().zip(members)) {
        let local = file.summary.symbols.iter().filter(|symbol| symbol.linkage == Linkage::Local);
        locals.extend(local.filter(|symbol| asked.contains(&symbol.key)).map(|symbol| Local {
            object: Some(object),
            images: images.clone(),
            key: symbol.key,
            size: symbol.size,
        }));
    }
    let has_asked: Vec<Vec<bool>> =
        tree.packs.iter().map(|packed| elements_with_locals(&packed.pack, &asked)).collect();
    let mut commons: HashMap<Common, ImageSet> = HashMap::new();
    for (file, images) in tree.objects.iter().zip(members) {
        for common in &file.summary.commons {
            if has_asked[common.pack as usize][common.element as usize] {
                commons.entry(*common).or_insert_with(|| images.without_members()).extend(images);
            }
        }
    }
    let mut commons: Vec<(Common, ImageSet)> = commons.into_iter().collect();
    commons.sort_unstable_by_key(|(common, _)| (common.pack, common.element));
    for (common, images) in commons {
        let pack = &tree.packs[common.pack as usize].pack;
        let local = pack.symbols_of(common.element).iter().filter(|symbol| symbol.linkage == Linkage::Local);
        locals.extend(local.map(|symbol| Local {
            object: None,
            images: images.clone(),
            key: pack.names[symbol.name as usize].key,
            size: symbol.size,
        }));
    }
    locals
}

/// Per element of a pack whether it has a local symbol with one of these names.
fn elements_with_locals(pack: &Pack, names: &NameSet) -> Vec<bool> {
    let is_asked = |symbol: &CommonSymbol| {
        symbol.linkage == Linkage::Local && names.contains(&pack.names[symbol.name as usize].key)
    };
    (0..pack.elements.len() as u32).map(|element| pack.symbols_of(element).iter().any(is_asked)).collect()
}

/// An object of the image that was written after it. Where everything has just been linked, only one that goes by the
/// name of the image can be; see [`Given::is_linked`]. One with nothing in it, as where a macro leaves all out, tells nothing.
pub(super) fn stale_object(
    tree: &BuildTree,
    members: &[ImageSet],
    image: usize,
    is_linked: bool,
) -> Option<String> {
    let Scanned { name, modified, .. } = &tree.images[image];
    let linked_at = (*modified)?;
    let is_own = |object: &str| object.rsplit_once('/').is_some_and(|(harness, _)| harness == name);
    tree.objects
        .iter()
        .zip(members)
        .find(|(object, direct)| {
            direct.contains(image)
                && !object.summary.is_empty()
                && object.modified.is_some_and(|written| written > linked_at)
                && (!is_linked || is_own(&object.name))
        })
        .map(|(object, _)| object.name.clone())
}
