//! Whether the last analysis of a build directory still holds: nothing came or went, the objects that changed have the
//! names and references they had, the linked files that changed have the symbols they had, and the sizes of all these
//! put every object into the linked files it was in. Everything else is analysed from scratch. Where sizes leave it open
//! what is in a linked file, `analysis` compares bytes.

use fewer_core::Digest;
use rayon::prelude::*;

use crate::explanations::{Candidate, Explanations, Local};
use crate::file_records::Status;
use crate::image::SymbolTable;
use crate::kept::{Kept, KeptImage, KeptObject};
use crate::membership::{Occurrence, told_again};
use crate::name_map::NameSet;
use crate::pack::Divided;
use crate::scan::{IMAGE_KIND, Input, OBJECT_KIND, Opened, PACK_KIND, SummaryCache, read_input};
use crate::summary::{Linkage, ObjectSummary, UNKNOWN_SIZE};

/// With more objects changed than this the build is another one.
const MOST_CHANGED: usize = 16;

/// The last analysis of a build directory, with what is different now.
#[derive(Clone, Debug)]
pub struct Renewal {
    /// Sizes are those of now.
    pub kept: Kept,
    /// The objects that changed, by their place.
    pub changed: Vec<(usize, ObjectSummary)>,
    /// Per linked file whether it has to be read again.
    pub is_relinked: Vec<bool>,
    /// Per linked file the status to know it by the next time, if it turns out to be as it was: of those that were not read
    /// again the one it was known by.
    pub statuses: Vec<Option<Status>>,
}

/// A linked file as it is now.
pub struct LinkedFile<'f> {
    pub name: &'f str,
    pub status: Option<Status>,
    pub opened: &'f Opened,
}

impl Renewal {
    /// `None` if it does not hold. Keeps the summaries of the objects that changed.
    pub fn of(
        mut kept: Kept,
        objects: &[Input],
        files: &[Opened],
        images: &[LinkedFile<'_>],
        cache: &dyn SummaryCache,
    ) -> Option<Renewal> {
        let has_same_files = kept
            .objects
            .iter()
            .map(|object| &object.name)
            .eq(objects.iter().map(|i| &i.name))
            && kept.images.iter().map(|image| image.name.as_str()).eq(images.iter().map(|image| image.name));
        let is_changed = |&object: &usize| kept.objects[object].key != objects[object].key;
        let changed = || (0..objects.len()).filter(is_changed);
        if !has_same_files || changed().count() > MOST_CHANGED || !is_stored(&kept, cache) {
            return None;
        }
        let changed = changed()
            .map(|object| {
                Some((object, changed_object(&kept.objects[object], &objects[object], files, cache)?))
            })
            .collect::<Option<Vec<_>>>()?;
        let mut is_relinked: Vec<bool> = kept.images.iter().zip(images).map(is_relinked).collect();
        let sizes = renew_images(&mut kept, images, &is_relinked)?;
        let status = |((kept, now), sizes): ((&KeptImage, &LinkedFile<'_>), &Sizes)| match sizes {
            Sizes::Same => now.status.or(kept.status),
            Sizes::OthersOfEvidence | Sizes::Others => kept.status,
        };
        let mut statuses: Vec<Option<Status>> =
            kept.images.iter().zip(images).zip(&sizes).map(status).collect();
        for (object, summary) in &changed {
            let told = &mut kept.evidence.telling[*object];
            *told = told_again(summary, told)?;
        }
        if kept.evidence.direct_members() != kept.members {
            return None;
        }
        let has_same_locals =
            |(object, summary): &(usize, ObjectSummary)| has_same_locals(&kept, *object, summary);
        if sizes.contains(&Sizes::Others) || !changed.iter().all(has_same_locals) {
            for image in renew_explanations(&mut kept, &changed) {
                is_relinked[image] = true;
                statuses[image] = kept.images[image].status;
            }
        }
        let encoded =
            |(object, summary): &(usize, ObjectSummary)| (objects[*object].key, summary.encode_unnumbered());
        cache.save(OBJECT_KIND, &changed.iter().map(encoded).collect::<Vec<_>>());
        Some(Renewal { kept, changed, is_relinked, statuses })
    }
}

/// Whether the summaries are still there that a record of the state refers to.
fn is_stored(kept: &Kept, cache: &dyn SummaryCache) -> bool {
    let objects: Vec<Digest> = kept.objects.iter().map(|object| object.key).collect();
    let images: Vec<Digest> = kept.images.iter().map(|image| image.summary.encode().0).collect();
    cache.has_all(OBJECT_KIND, &objects)
        && cache.has_all(PACK_KIND, &kept.packs)
        && cache.has_all(IMAGE_KIND, &images)
}

/// The summary of an object that changed, if it has the shape it had; its common elements are then those it had.
fn changed_object(
    kept: &KeptObject,
    input: &Input,
    files: &[Opened],
    cache: &dyn SummaryCache,
) -> Option<ObjectSummary> {
    if input.is_bitcode {
        return None;
    }
    let divided = Divided::of(read_input(input, files)?);
    let closures = divided.closures().to_vec();
    let mut own = divided.into_own();
    if own.shape(closures.iter().copied()) != kept.shape
        || own.elements.len() != kept.nodes.len()
        || own.symbols.iter().any(|symbol| symbol.size == UNKNOWN_SIZE)
    {
        return None;
    }
    let before = ObjectSummary::decode(&cache.load(OBJECT_KIND, &[kept.key]).remove(&kept.key)?)?;
    own.commons = before.commons;
    own.packs = before.packs;
    (own.commons.len() == closures.len()).then_some(own)
}

fn is_relinked((kept, now): (&KeptImage, &LinkedFile<'_>)) -> bool {
    kept.status.is_none() || kept.status != now.status
}

/// Whether the symbols of a linked file have the sizes they had, as far as these are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sizes {
    Same,
    /// Only those have others that tell which objects are in it.
    OthersOfEvidence,
    /// Also those have others that no definition explains.
    Others,
}

/// Takes sizes from the linked files that changed; `None` if one has other symbols than it had.
fn renew_images(kept: &mut Kept, images: &[LinkedFile<'_>], is_relinked: &[bool]) -> Option<Vec<Sizes>> {
    kept.images
        .par_iter_mut()
        .zip(&mut kept.evidence.occurrences)
        .zip(images)
        .zip(is_relinked)
        .map(|(((kept, occurrences), now), is_relinked)| match is_relinked {
            true => renew_image(kept, occurrences, now),
            false => Some(Sizes::Same),
        })
        .collect()
}

fn renew_image(kept: &mut KeptImage, occurrences: &mut [Occurrence], now: &LinkedFile<'_>) -> Option<Sizes> {
    let table = SymbolTable::of(now.opened.bytes()?)?;
    if kept.shape != Some(table.shape()) {
        return None;
    }
    let mut sizes = Sizes::Same;
    for found in occurrences {
        let size = table.size(found.entry)?;
        if std::mem::replace(&mut found.size, size) != size {
            sizes = Sizes::OthersOfEvidence;
        }
    }
    for Candidate { symbol, .. } in &mut kept.candidates {
        let size = table.size(symbol.entry)?;
        if std::mem::replace(&mut symbol.size, size) != size {
            sizes = Sizes::Others;
        }
    }
    Some(sizes)
}

/// Whether those local names of an object that may explain a symbol have the sizes they had. It has the names it had.
fn has_same_locals(kept: &Kept, object: usize, summary: &ObjectSummary) -> bool {
    let before = || kept.locals.iter().filter(|local| local.object == Some(object as u32));
    let keys: NameSet = before().map(|local| local.key).collect();
    let now = summary.symbols.iter().filter(|symbol| symbol.linkage == Linkage::Local);
    let now = now.filter(|symbol| keys.contains(&symbol.key)).map(|symbol| (symbol.key, symbol.size));
    before().map(|local| (local.key, local.size)).eq(now)
}

/// Judges anew which symbols the local names of objects explain. Gives the linked files with others unexplained than
/// before: these have to be read again.
fn renew_explanations(kept: &mut Kept, changed: &[(usize, ObjectSummary)]) -> Vec<usize> {
    let is_same = |local: &Local| !changed.iter().any(|(changed, _)| Some(*changed as u32) == local.object);
    let mut own_locals: Vec<Local> = Vec::new();
    for (object, summary) in changed {
        let own = summary.symbols.iter().filter(|symbol| symbol.linkage == Linkage::Local);
        own_locals.extend(own.map(|symbol| Local {
            object: Some(*object as u32),
            images: kept.objects[*object].direct.clone(),
            key: symbol.key,
            size: symbol.size,
        }));
    }
    let same = kept.locals.iter().filter(|local| is_same(local));
    let explanations = Explanations::of(same.chain(&own_locals));
    let images = kept.images.iter_mut().enumerate();
    let judged_otherwise =
        images.filter_map(|(index, image)| explanations.judge(&mut image.candidates, index).then_some(index));
    judged_otherwise.collect()
}
