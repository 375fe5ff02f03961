//! What an analysis keeps for the next one of the same build directory: the linked graph as numbers, and all that it
//! was made from, by digests. Whether it still holds is judged by `renewal`; what it means, by `analysis`.

use std::fs;
use std::path::Path;

use fewer_core::{Before, Digest, DigestBuilder, Domain, Rows};

use crate::content_key::KEY_VERSION;
use crate::effects::Intake;
use crate::encoding::{Digests, KeptBytes, Reader, Writer};
use crate::explanations::{Candidate, Local};
use crate::file_records::Status;
use crate::foreign::Foreign;
use crate::googletest::TestClasses;
use crate::image::{ImageSummary, ImageSymbol, TableEntry};
use crate::image_set::ImageSet;
use crate::initialisers::Initialisers;
use crate::intakes::InputNodes;
use crate::link::NO_NODE;
use crate::membership::{Contested, DirectMembers, Evidence, Occurrence, Told, Weight};
use crate::memory;
use crate::scan::SummaryCache;
use crate::summary::NameKey;
use crate::virtual_tables::VirtualCalls;

/// Raise when something else is kept.
const KEPT_VERSION: u32 = 6;
const KEPT: Domain = Domain::new("analysis.kept");
const STATUSES: Domain = Domain::new("analysis.statuses");

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Kept {
    /// Of its stored form; not part of that.
    pub digest: Digest,
    pub virtual_calls: VirtualCalls,
    pub objects: Vec<KeptObject>,
    pub packs: Vec<Digest>,
    pub images: Vec<KeptImage>,
    pub evidence: Evidence,
    /// What the evidence came to, before doubt was settled.
    pub members: DirectMembers,
    /// Where the bytes had to tell whether an object is in a linked file, and whether they spoke against it.
    pub contested: Vec<(Contested, bool)>,
    /// Local names that may explain symbols of linked files.
    pub locals: Vec<Local>,
    pub nodes: KeptNodes,
    pub initialisers: Initialisers,
    pub inputs: InputNodes,
    pub starts_programs: bool,
    pub loads_libraries: bool,
    /// Notes on objects that could not be read.
    pub notes: Vec<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct KeptObject {
    pub name: String,
    pub key: Digest,
    pub shape: Digest,
    /// Per own element its node.
    pub nodes: Vec<u32>,
    /// The linked files it is part of.
    pub direct: ImageSet,
}

#[derive(Clone, PartialEq, Debug)]
pub struct KeptImage {
    pub name: String,
    /// `None` if it was too young for its status to tell when it changes.
    pub status: Option<Status>,
    /// Without symbols.
    pub summary: ImageSummary,
    /// Of the symbol table, but for sizes and addresses; `None` if there is none.
    pub shape: Option<Digest>,
    /// Symbols that no definition of the program explains.
    pub candidates: Vec<Candidate>,
    /// Of those that nothing explains.
    pub foreign: Foreign,
    /// What these use of the project.
    pub called: Vec<(NameKey, u32)>,
    /// The nodes of `main`.
    pub mains: Vec<u32>,
    pub compilers: Vec<String>,
    pub classes: TestClasses,
}

/// The nodes without what programs run on: common elements, the objects' own, then made ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptNodes {
    pub contents: Digests,
    pub fingerprints: Digests,
    pub commons: u32,
    /// Per element the programs it is in, as a place in the list of sets.
    pub programs: Vec<u32>,
    pub program_sets: Vec<ImageSet>,
    /// Of the made nodes.
    pub names: Vec<String>,
    /// Per node the nodes it refers to.
    pub rows: Rows,
}

impl KeptNodes {
    pub fn before(&self) -> Before<'_> {
        Before { contents: self.contents.as_bytes(), fingerprints: self.fingerprints.as_bytes() }
    }
}

impl Kept {
    pub fn load(cache: &dyn SummaryCache, build_directory: &Path) -> Option<Kept> {
        let key = key_of(build_directory)?;
        let mut kept = Kept::decode(&cache.kept(key)?)?;
        if let Some(statuses) = cache.kept(statuses_key(key)) {
            let _ = kept.read_statuses((*statuses).as_ref());
        }
        Some(kept)
    }

    pub fn save(&self, cache: &dyn SummaryCache, build_directory: &Path) {
        if let Some(key) = key_of(build_directory) {
            cache.keep(key, &self.encode());
        }
    }

    /// Keeps the statuses by which linked files are known from now on. Each was found to be as it was, whenever it was
    /// written.
    pub fn save_statuses(
        &self,
        cache: &dyn SummaryCache,
        build_directory: &Path,
        statuses: &[Option<Status>],
    ) {
        let is_known = self.images.iter().map(|image| image.status).eq(statuses.iter().copied());
        let Some(key) = key_of(build_directory).filter(|_| !is_known) else { return };
        let mut out = Writer(Vec::new());
        out.digest(self.digest);
        write_list(&mut out, statuses, |out, status| write_status(out, *status));
        cache.keep(statuses_key(key), &out.sealed(STATUSES).1);
    }

    /// Takes the statuses that were kept later, if that was for this analysis.
    fn read_statuses(&mut self, bytes: &[u8]) -> Option<()> {
        let mut input = Reader::unsealed(STATUSES, bytes)?;
        let is_for_this = input.digest()? == self.digest;
        let statuses = input.list(4, read_status)?;
        if is_for_this && input.0.is_empty() && statuses.len() == self.images.len() {
            self.images.iter_mut().zip(statuses).for_each(|(image, status)| image.status = status);
        }
        Some(())
    }

    fn encode(&self) -> Vec<u8> {
        let nodes = &self.nodes;
        let room = nodes.contents.as_bytes().len() * 40 + nodes.rows.reference_count() * 3 + (1 << 20);
        let mut out = Writer(Vec::with_capacity(room));
        out.word(KEPT_VERSION);
        out.word(KEY_VERSION);
        out.word(self.virtual_calls as u32);
        write_nodes(&mut out, nodes);
        out.word(self.images.len() as u32);
        self.images.iter().for_each(|image| write_image(&mut out, image));
        out.word(self.objects.len() as u32);
        for (index, object) in self.objects.iter().enumerate() {
            write_object(&mut out, object);
            write_set(&mut out, &self.members.sets[index]);
            write_set(&mut out, &self.members.partial[index]);
        }
        out.digests(&self.packs.iter().copied().collect());
        write_evidence(&mut out, &self.evidence);
        write_list(&mut out, &self.contested, |out, (contest, is_excluded)| {
            out.number(contest.object as u32);
            out.number(contest.image as u32);
            write_list(out, &contest.names, |out, name| out.long(name.0));
            out.number(*is_excluded as u32);
        });
        write_list(&mut out, &self.locals, |out, local| {
            match local.object {
                // Its linked files are those of the object.
                Some(object) => out.number(object + 1),
                None => {
                    out.number(0);
                    write_set(out, &local.images);
                }
            }
            out.long(local.key.0);
            out.number(local.size);
        });
        let programs = |out: &mut Writer, (node, images): &(u32, ImageSet)| {
            out.word(*node);
            write_set(out, images);
        };
        write_list(&mut out, &self.initialisers.all, programs);
        write_list(&mut out, &self.initialisers.ambient, programs);
        write_list(&mut out, &self.initialisers.causes, |out, cause| out.bytes(cause.as_bytes()));
        write_list(&mut out, &self.inputs, |out, (intake, nodes)| {
            out.word(*intake as u32);
            write_list(out, nodes, |out, node| out.word(*node));
        });
        out.word(self.starts_programs as u32 | (self.loads_libraries as u32) << 1);
        write_list(&mut out, &self.notes, |out, note| out.bytes(note.as_bytes()));
        out.sealed(KEPT).1
    }

    /// The inverse of `encode`; `None` for another version or damaged bytes.
    fn decode(kept: &KeptBytes) -> Option<Kept> {
        let bytes = (**kept).as_ref();
        memory::make_ready(bytes.len() * 2);
        let mut input = Reader::unsealed(KEPT, bytes)?;
        if (input.word()?, input.word()?) != (KEPT_VERSION, KEY_VERSION) {
            return None;
        }
        let virtual_calls = VirtualCalls::of_number(input.word()?)?;
        let nodes = read_nodes(&mut input, kept)?;
        let count = nodes.contents.as_bytes().len() as u32;
        let images = input.list(32, |input| read_image(input, count))?;
        let set = |input: &mut Reader<'_>| read_set(input, images.len());
        let mut members = DirectMembers::default();
        let objects = input.list(40, |input| {
            let object = read_object(input, count, images.len())?;
            members.sets.push(set(input)?);
            members.partial.push(set(input)?);
            Some(object)
        })?;
        let packs = input.digests(kept)?.iter().collect();
        let evidence = read_evidence(&mut input)?;
        let contested = input.list(7, |input| {
            let (object, image) = (input.number()? as usize, input.number()? as usize);
            let names = input.list(8, |input| Some(NameKey(input.long()?)))?;
            Some((Contested { object, image, names }, input.number()? != 0))
        })?;
        let locals = input.list(10, |input| {
            let object = input.number()?.checked_sub(1);
            let images = match object {
                Some(object) => objects.get(object as usize)?.direct.clone(),
                None => set(input)?,
            };
            Some(Local { object, images, key: NameKey(input.long()?), size: input.number()? })
        })?;
        let node = |input: &mut Reader<'_>| input.word().filter(|&node| node < count);
        let programs = |input: &mut Reader<'_>| Some((node(input)?, set(input)?));
        let initialisers = Initialisers {
            all: input.list(12, programs)?,
            ambient: input.list(12, programs)?,
            causes: input.list(4, read_text)?,
        };
        let inputs = input.list(8, |input| Some((read_intake(input)?, input.list(4, node)?)))?;
        let bits = input.word()?;
        let notes = input.list(4, read_text)?;
        let (_, seal) = bytes.split_last_chunk()?;
        let kept = Kept {
            digest: Digest::from_bytes(*seal),
            virtual_calls,
            objects,
            packs,
            images,
            evidence,
            members,
            contested,
            locals,
            nodes,
            initialisers,
            inputs,
            starts_programs: bits & 1 != 0,
            loads_libraries: bits & 2 != 0,
            notes,
        };
        (input.0.is_empty() && kept.is_consistent()).then_some(kept)
    }

    /// Whether every index is in range, so that later steps need not check.
    fn is_consistent(&self) -> bool {
        let KeptNodes { contents, fingerprints, commons, programs, program_sets, names, rows } = &self.nodes;
        let (objects, images, elements) = (self.objects.len(), self.images.len(), programs.len());
        let count = contents.as_bytes().len();
        let Evidence { telling, occurrences, stripped } = &self.evidence;
        let is_told = |found: &Occurrence| {
            telling.get(found.object as usize).is_some_and(|told| (found.told as usize) < told.len())
        };
        rows.element_count() == count
            && fingerprints.as_bytes().len() == count
            && rows.iter().flatten().all(|target| target.index() < count)
            && elements + names.len() == count
            && *commons as usize <= elements
            && programs.iter().all(|&set| (set as usize) < program_sets.len())
            && telling.len() == objects
            && occurrences.len() == images
            && stripped.len() == images
            && occurrences.iter().flatten().all(is_told)
            && self.contested.iter().all(|(contest, _)| contest.object < objects && contest.image < images)
            && self.inputs.iter().flat_map(|(_, nodes)| nodes).all(|&node| node as usize >= elements)
            && self.initialisers.causes.len() == self.initialisers.ambient.len()
    }
}

/// Rules of linking change between versions of this program: only the very program that kept an analysis takes it up.
/// `None` if it cannot be told which program this is.
fn key_of(build_directory: &Path) -> Option<Digest> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let mut status = Writer(Vec::new());
    Status::of(&program).write(&mut status);
    Some(DigestBuilder::new(KEPT).text(&build_directory.to_string_lossy()).bytes(&status.0).finish())
}

/// What is kept of linked files that were written again is kept apart: it is small.
fn statuses_key(key: Digest) -> Digest {
    DigestBuilder::new(STATUSES).digest(key).finish()
}

fn write_list<T>(out: &mut Writer, list: &[T], item: impl Fn(&mut Writer, &T)) {
    out.word(list.len() as u32);
    list.iter().for_each(|value| item(out, value));
}

fn write_nodes(out: &mut Writer, nodes: &KeptNodes) {
    out.digests(&nodes.contents);
    out.digests(&nodes.fingerprints);
    out.word(nodes.commons);
    out.word(nodes.program_sets.first().map_or(0, ImageSet::capacity) as u32);
    write_list(out, &nodes.program_sets, write_set);
    write_list(out, &nodes.programs, |out, set| out.number(*set));
    write_list(out, &nodes.names, |out, name| out.bytes(name.as_bytes()));
    out.word(nodes.rows.element_count() as u32);
    nodes.rows.iter().for_each(|row| out.number(row.len() as u32));
    (0..).zip(nodes.rows.iter()).for_each(|(node, row)| out.steps(node, row.iter().map(|target| target.0)));
}

fn read_nodes(input: &mut Reader<'_>, kept: &KeptBytes) -> Option<KeptNodes> {
    let contents = input.digests(kept)?;
    let fingerprints = input.digests(kept)?;
    let commons = input.word()?;
    let images = input.word()? as usize;
    let program_sets = input.list(8, |input| read_set(input, images))?;
    let programs = input.list(1, Reader::number)?;
    let names = input.list(4, read_text)?;
    let counts = input.list(1, Reader::number)?;
    let mut targets = Vec::with_capacity(counts.len() * 3);
    for (node, &count) in (0..).zip(&counts) {
        input.steps(node, count as usize, &mut targets)?;
    }
    let rows = Rows::of_counts(&counts, targets)?;
    Some(KeptNodes { contents, fingerprints, commons, programs, program_sets, names, rows })
}

fn write_image(out: &mut Writer, image: &KeptImage) {
    out.bytes(image.name.as_bytes());
    write_status(out, image.status);
    out.word(image.shape.is_some() as u32);
    image.shape.iter().for_each(|shape| out.digest(*shape));
    out.bytes(&image.summary.encode().1);
    out.word(image.candidates.len() as u32);
    let mut last = 0;
    for Candidate { symbol, is_explained } in &image.candidates {
        out.long(symbol.key.0);
        out.number(symbol.size);
        out.step(last, symbol.entry.bits());
        out.number(*is_explained as u32);
        last = symbol.entry.bits();
    }
    out.digest(image.foreign.digest.unwrap_or_default());
    write_list(out, &image.foreign.calls, |out, key| out.long(key.0));
    write_list(out, &image.called, |out, (key, node)| {
        out.long(key.0);
        out.word(*node);
    });
    write_list(out, &image.mains, |out, node| out.word(*node));
    write_list(out, &image.compilers, |out, compiler| out.bytes(compiler.as_bytes()));
    image.classes.write(out);
}

fn read_image(input: &mut Reader<'_>, nodes: u32) -> Option<KeptImage> {
    let name = read_text(input)?;
    let mut entry = 0;
    Some(KeptImage {
        name,
        status: read_status(input)?,
        shape: if input.word()? != 0 { Some(input.digest()?) } else { None },
        summary: ImageSummary::decode(input.bytes()?)?,
        candidates: input.list(11, |input| {
            let key = NameKey(input.long()?);
            let size = input.number()?;
            entry = input.step(entry)?;
            let symbol = ImageSymbol { key, size, entry: TableEntry::of_bits(entry) };
            Some(Candidate { symbol, is_explained: input.number()? != 0 })
        })?,
        foreign: Foreign {
            digest: Some(input.digest()?).filter(|digest| *digest != Digest::default()),
            calls: input.list(8, |input| Some(NameKey(input.long()?)))?,
        },
        called: input
            .list(12, |input| Some((NameKey(input.long()?), input.word().filter(|&node| node < nodes)?)))?,
        mains: input.list(4, |input| input.word().filter(|&node| node < nodes))?,
        compilers: input.list(4, read_text)?,
        classes: TestClasses::read(input, nodes)?,
    })
}

fn write_status(out: &mut Writer, status: Option<Status>) {
    out.word(status.is_some() as u32);
    status.iter().for_each(|status| status.write(out));
}

fn read_status(input: &mut Reader<'_>) -> Option<Option<Status>> {
    match input.word()? {
        0 => Some(None),
        _ => Status::read(input).map(Some),
    }
}

fn write_object(out: &mut Writer, object: &KeptObject) {
    out.bytes(object.name.as_bytes());
    out.digest(object.key);
    out.digest(object.shape);
    out.counted_steps(object.nodes.iter().copied());
    write_set(out, &object.direct);
}

fn read_object(input: &mut Reader<'_>, nodes: u32, images: usize) -> Option<KeptObject> {
    let is_node = |&node: &u32| node < nodes || node == NO_NODE;
    let (name, key, shape) = (read_text(input)?, input.digest()?, input.digest()?);
    let nodes = input.counted_steps()?;
    if !nodes.iter().all(is_node) {
        return None;
    }
    Some(KeptObject { name, key, shape, nodes, direct: read_set(input, images)? })
}

fn write_evidence(out: &mut Writer, evidence: &Evidence) {
    write_list(out, &evidence.telling, |out, telling| {
        write_list(out, telling, |out, told| {
            out.number(told.size);
            out.number(told.weight as u32);
        });
    });
    write_list(out, &evidence.occurrences, |out, occurrences| {
        write_list(out, occurrences, |out, found| {
            out.number(found.object);
            out.number(found.told);
            out.word(found.entry.bits());
            out.number(found.size);
        });
    });
    write_list(out, &evidence.stripped, |out, is_stripped| out.number(*is_stripped as u32));
}

fn read_evidence(input: &mut Reader<'_>) -> Option<Evidence> {
    let told = |input: &mut Reader<'_>| {
        let size = input.number()?;
        let weight = match input.number()? {
            0 => Weight::Weak,
            1 => Weight::Initialiser,
            2 => Weight::Strong,
            _ => return None,
        };
        Some(Told { size, weight })
    };
    let occurrence = |input: &mut Reader<'_>| {
        let (object, told) = (input.number()?, input.number()?);
        let (entry, size) = (TableEntry::of_bits(input.word()?), input.number()?);
        Some(Occurrence { object, told, entry, size })
    };
    Some(Evidence {
        telling: input.list(4, |input| input.list(2, told))?,
        occurrences: input.list(4, |input| input.list(7, occurrence))?,
        stripped: input.list(1, |input| Some(input.number()? != 0))?,
    })
}

fn write_set(out: &mut Writer, set: &ImageSet) {
    set.words().for_each(|word| out.long(word));
}

fn read_set(input: &mut Reader<'_>, images: usize) -> Option<ImageSet> {
    ImageSet::of_words(images, std::iter::from_fn(|| Some(input.long())))
}

fn read_text(input: &mut Reader<'_>) -> Option<String> {
    String::from_utf8(input.bytes()?.to_vec()).ok()
}

fn read_intake(input: &mut Reader<'_>) -> Option<Intake> {
    [Intake::Files, Intake::Programs, Intake::Libraries].get(input.word()? as usize).copied()
}
