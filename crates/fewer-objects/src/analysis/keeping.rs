//! An analysis from what the last one of the same build directory kept, and what is kept of one for the next. Whether
//! the last one still holds is judged by `renewal`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use fewer_core::{Digest, Lazy, Rows};

use super::naming::later_names;
use super::survey::{ForeignPart, TakesIn, called_names, items, note_contents, stale_object};
use super::*;
use crate::dissolved::soluble_objects;
use crate::explanations::Local;
use crate::file_records::Status;
use crate::foreign::Foreign;
use crate::image::SymbolTable;
use crate::intakes::InputNodes;
use crate::kept::{Kept, KeptImage, KeptNodes, KeptObject};
use crate::membership::{Contested, DirectMembers, Exclusion};
use crate::name_map::DigestMap;
use crate::pack::CommonElement;
use crate::scan::Packed;
use crate::summary::ObjectSummary;

/// What an analysis found out on its way that only the next one asks for.
pub(super) struct Found {
    pub evidence: Evidence,
    /// Before doubt was settled.
    pub direct: DirectMembers,
    pub open: Vec<Contested>,
    pub exclusions: Vec<Exclusion>,
    pub members: Memberships,
    pub foreign: Vec<ForeignPart>,
    pub locals: Vec<Local>,
    pub takes_in: TakesIn,
    pub inputs: InputNodes,
}

impl<'t> Analysis<'t> {
    /// The analysis of a tree of which the last one still holds; `None` if something it is made of came or went.
    pub(super) fn renewed(
        build_directory: &Path,
        tree: &'t BuildTree,
        given: &Given,
    ) -> Option<Analysis<'t>> {
        let renewal = tree.renewal.as_ref()?;
        let kept = &renewal.kept;
        if kept.virtual_calls != given.virtual_calls || !given.is_lasting() {
            return None;
        }
        if !renewal.has_same_contests(build_directory, tree) {
            return None;
        }
        let (mut images, has_same_foreign) = survey_again(build_directory, tree, renewal, given)?;
        let takes_in = TakesIn { programs: kept.starts_programs, libraries: kept.loads_libraries };
        note_contents(tree, takes_in, &given.harnesses, &mut images);
        let direct: Vec<ImageSet> = kept.objects.iter().map(|object| object.direct.clone()).collect();
        let surroundings = Surroundings {
            images,
            files: given.files.clone(),
            variables: given.variables.clone(),
            members: recorded_members(tree, &direct),
            virtual_calls: given.virtual_calls,
        };
        let contents = renewal.contents(&intakes(tree, &surroundings))?;
        let compilers: Vec<Vec<String>> = kept.images.iter().map(|image| image.compilers.clone()).collect();
        let nodes = |image: &KeptImage| image.called.iter().map(|(_, node)| *node).collect();
        let called: Vec<Vec<u32>> = kept.images.iter().map(nodes).collect();
        let (made, environments) =
            environment_nodes(tree, contents.len() as u32, &compilers, &called, &surroundings);
        let graph = graph(tree, renewal, contents, made);
        let notes = notes(tree, &kept.notes, &surroundings);
        let initialisers = kept.initialisers.clone();
        renewal.keep_statuses(tree, &has_same_foreign);
        let basis = Basis::Kept(renewal);
        Some(Analysis::complete(basis, tree, graph, initialisers, surroundings, environments, notes))
    }

    /// Keeps the analysis for the next one of the directory. Code that the linker makes is not kept: which objects it
    /// comes from does not follow from sizes.
    pub(super) fn keep(&self, found: Found) {
        let (tree, Basis::Linked(tests)) = (self.tree, &self.basis) else { return };
        let Some((cache, directory, statuses)) = tree.keeper() else { return };
        if !soluble_objects(tree).is_empty() {
            return;
        }
        let linked = &tests.linked;
        let Found { evidence, direct, open, exclusions, members, foreign, locals, takes_in, inputs } = found;
        let compilers = compilers(tree, linked);
        let image = |(index, (foreign, status)): (usize, (ForeignPart, &Option<Status>))| {
            let image = &tree.images[index];
            let shape = |bytes| Some(SymbolTable::of(bytes)?.shape());
            let classes = image.summary.has_googletest.then(|| tests.classes(index).clone());
            KeptImage {
                name: image.name.clone(),
                status: *status,
                summary: ImageSummary { symbols: Lazy::default(), ..ImageSummary::clone(&image.summary) },
                shape: tree.image_bytes(index).filter(|_| image.summary.note.is_none()).and_then(shape),
                candidates: foreign.candidates,
                foreign: foreign.foreign,
                called: foreign.called,
                mains: mains(linked, index).collect(),
                compilers: compilers[index].clone(),
                classes: classes.unwrap_or_default(),
            }
        };
        let images = foreign.into_iter().zip(statuses).enumerate().map(image).collect();
        let object = |(index, object): (usize, &Scanned<ObjectSummary>)| KeptObject {
            name: object.name.clone(),
            key: object.key,
            shape: object.summary.shape(closures(&object.summary, &tree.packs)),
            nodes: linked.node_of[index].clone(),
            direct: members.direct[index].clone(),
        };
        let kept = Kept {
            digest: Digest::default(),
            virtual_calls: self.surroundings.virtual_calls,
            objects: tree.objects.iter().enumerate().map(object).collect(),
            packs: tree.pack_keys(),
            images,
            evidence,
            members: direct,
            contested: open
                .into_iter()
                .map(|contest| {
                    let is_excluded = contest.is_among(&exclusions);
                    (contest, is_excluded)
                })
                .collect(),
            locals,
            nodes: self.kept_nodes(tests),
            initialisers: self.initialisers.clone(),
            inputs,
            starts_programs: takes_in.programs,
            loads_libraries: takes_in.libraries,
            notes: opaque_notes(tree, linked),
        };
        kept.save(cache, directory);
    }

    /// All nodes but those of what the programs run on, which come last.
    fn kept_nodes(&self, LinkedTests { linked, base_count: count, .. }: &LinkedTests<'_>) -> KeptNodes {
        let elements = || (0..*count as u32).map(ElementId);
        let mut nodes = KeptNodes {
            commons: linked.common_count() as u32,
            contents: elements().map(|node| self.graph.content(node)).collect(),
            fingerprints: elements().map(|node| self.fingerprints.element(node)).collect(),
            programs: Vec::with_capacity(linked.images.len()),
            rows: Rows::with_capacity(*count, self.graph.reference_count()),
            ..KeptNodes::default()
        };
        let mut sets: HashMap<&ImageSet, u32> = HashMap::new();
        // Neighbours are mostly in the same programs.
        for run in linked.images.chunk_by(|a, b| a == b) {
            let next = sets.len() as u32;
            let set = *sets.entry(&run[0]).or_insert_with(|| {
                nodes.program_sets.push(run[0].clone());
                next
            });
            nodes.programs.extend(run.iter().map(|_| set));
        }
        let made = count - linked.element_count();
        nodes.names = linked.made[..made].iter().map(|node| node.name.clone()).collect();
        for node in elements() {
            nodes.rows.push(self.graph.references(node).iter().map(|target| target.0));
        }
        nodes
    }
}

impl Renewal {
    /// Keeps by which statuses the linked files are known that were found as they were. Where bytes had to tell what is in
    /// a file, they are asked again as long as it is not the very one that was kept: the next answer depends on objects too.
    fn keep_statuses(&self, tree: &BuildTree, has_same_foreign: &[bool]) {
        let Some((cache, directory, _)) = tree.keeper() else { return };
        let is_contested =
            |image: usize| self.kept.contested.iter().any(|(contest, _)| contest.image == image);
        let status = |(image, (kept, now)): (usize, (&KeptImage, &Option<Status>))| match now {
            Some(now) if has_same_foreign[image] && !is_contested(image) => Some(*now),
            Some(_) | None => kept.status,
        };
        let images = self.kept.images.iter().zip(&self.statuses).enumerate();
        let statuses: Vec<Option<Status>> = images.map(status).collect();
        self.kept.save_statuses(cache, directory, &statuses);
    }

    /// The contents of the kept nodes as they are now; `None` if other files are taken in than before.
    fn contents(&self, intakes: &Intakes) -> Option<Vec<Digest>> {
        let Kept { nodes, inputs, objects, .. } = &self.kept;
        let mut contents: Vec<Digest> = nodes.contents.iter().collect();
        for (object, summary) in &self.changed {
            for (&node, element) in objects[*object].nodes.iter().zip(&summary.elements) {
                if node != NO_NODE {
                    contents[node as usize] = element.content;
                }
            }
        }
        for (intake, inputs) in inputs {
            let now = intakes.of(*intake);
            let name = |node: &u32| &nodes.names[*node as usize - nodes.programs.len()];
            if !inputs.iter().map(name).eq(now.iter().map(|input| &input.name)) {
                return None;
            }
            inputs.iter().zip(now).for_each(|(&node, input)| contents[node as usize] = input.digest);
        }
        Some(contents)
    }

    /// Whether the bytes tell of every contested object what they told, where object or linked file changed.
    fn has_same_contests(&self, build_directory: &Path, tree: &BuildTree) -> bool {
        let is_open = |contest: &Contested| {
            self.is_relinked[contest.image]
                || self.changed.iter().any(|(object, _)| *object == contest.object)
        };
        let contests = || self.kept.contested.iter().filter(|(contest, _)| is_open(contest));
        let open: Vec<Contested> = contests().map(|(contest, _)| contest.clone()).collect();
        let exclusions = verification::exclusions(build_directory, tree, &open);
        let is_same =
            |(contest, was_excluded): &(Contested, bool)| contest.is_among(&exclusions) == *was_excluded;
        contests().all(is_same)
    }

    /// Every node that one of the objects holds.
    pub(super) fn nodes_of_objects(
        &self,
        tree: &BuildTree,
        objects: impl Iterator<Item = usize>,
    ) -> Vec<u32> {
        let known = nodes_by_closure(self.kept.nodes.closures());
        let mut nodes = Vec::new();
        for object in objects {
            nodes.extend(self.kept.objects[object].nodes.iter().filter(|node| **node != NO_NODE));
            let common = closures(&tree.objects[object].summary, &tree.packs);
            nodes.extend(common.filter_map(|closure| known.get(&closure)));
        }
        nodes
    }
}

impl KeptNodes {
    /// What identifies each common element. These come first, and their contents never change.
    fn closures(&self) -> impl Iterator<Item = Digest> {
        self.contents.iter().take(self.commons as usize)
    }

    /// The elements that a program holds.
    pub(super) fn elements_in(&self, image: usize) -> impl Iterator<Item = u32> + '_ {
        let is_in: Vec<bool> = self.program_sets.iter().map(|set| set.contains(image)).collect();
        self.programs.iter().zip(0..).filter(move |(set, _)| is_in[**set as usize]).map(|(_, node)| node)
    }
}

/// What identifies each of an object's common elements, in order.
fn closures<'s>(summary: &'s ObjectSummary, packs: &'s [Packed]) -> impl Iterator<Item = Digest> + 's {
    summary
        .commons
        .iter()
        .map(|common| packs[common.pack as usize].pack.elements[common.element as usize].closure)
}

/// What each linked file has around it now, and whether its foreign code is as it was. That is read where the file changed;
/// `None` if it uses other names than it did.
fn survey_again(
    build_directory: &Path,
    tree: &BuildTree,
    renewal: &Renewal,
    given: &Given,
) -> Option<(Vec<ImageSurroundings>, Vec<bool>)> {
    let direct: Vec<ImageSet> = renewal.kept.objects.iter().map(|object| object.direct.clone()).collect();
    let mut finder = LibraryFinder::new(given.library_path.clone());
    let mut reader = ForeignReader::default();
    let kept = renewal.kept.images.iter().zip(&renewal.is_relinked);
    tree.images
        .iter()
        .zip(kept)
        .enumerate()
        .map(|(index, (image, (kept, is_relinked)))| {
            let foreign = match tree.image_bytes(index).filter(|_| *is_relinked) {
                Some(bytes) => reader.read(bytes, &image.summary, &kept.candidates),
                None if *is_relinked => Foreign::default(),
                None => kept.foreign.clone(),
            };
            let has_same_calls = foreign.calls == kept.foreign.calls;
            let is_same = foreign.digest == kept.foreign.digest;
            let items = items(build_directory, tree, image, foreign.digest, &mut finder);
            let stale = stale_object(tree, &direct, index, given.is_linked);
            let calls = called_names(&kept.called);
            let around = ImageSurroundings { image: image.name.clone(), items, calls, stale, content: None };
            has_same_calls.then_some((around, is_same))
        })
        .collect::<Option<Vec<_>>>()
        .map(|images| images.into_iter().unzip())
}

/// The kept nodes with their contents, then the new ones.
fn graph(tree: &BuildTree, renewal: &Arc<Renewal>, mut contents: Vec<Digest>, made: Vec<NewNode>) -> Graph {
    let KeptNodes { rows, programs, names, .. } = &renewal.kept.nodes;
    let mut rows = rows.clone();
    let mut names = names.clone();
    for (node, references) in made {
        contents.push(node.content);
        names.push(node.name);
        rows.push(references);
    }
    let last = renewal.clone();
    let own = move || last.kept.objects.iter().map(|object| object.nodes.clone()).collect();
    let last = renewal.clone();
    let common = move |packs: &[Packed]| common_nodes(last.kept.nodes.closures(), packs);
    rows.into_graph(contents, later_names(tree, programs.len(), own, common, names))
}

/// The nodes of common elements, which come first, by what identifies each.
fn nodes_by_closure(closures: impl Iterator<Item = Digest>) -> DigestMap<u32> {
    closures.zip(0..).collect()
}

/// Per pack and element its node. The closures are those of the nodes.
fn common_nodes(closures: impl Iterator<Item = Digest>, packs: &[Packed]) -> Vec<Vec<u32>> {
    let nodes = nodes_by_closure(closures);
    let node = |common: &CommonElement| nodes.get(&common.closure).copied().unwrap_or(NO_NODE);
    packs.iter().map(|packed| packed.pack.elements.iter().map(node).collect()).collect()
}
