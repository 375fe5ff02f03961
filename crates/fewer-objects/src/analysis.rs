//! The analysis of one state: from scanned files (or recorded summaries) to the graph, its fingerprints, and the
//! tests of each program. Running a program to list its tests is the caller's part.

mod keeping;
mod naming;
mod survey;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::OnceLock;

use fewer_core::{
    Digest, DigestBuilder, Domain, ElementId, Fingerprints, Graph, Mapping, Rows, TestId, TestNode,
};

use crate::dissolved::add_dissolved;
use crate::environment::LibraryFinder;
use crate::foreign::ForeignReader;
use crate::googletest::{ListedTest, TestClasses, TestSymbols, local_nodes};
use crate::image::ImageSummary;
use crate::image_set::ImageSet;
use crate::initialisers::{self, Initialisers};
use crate::intakes::{Intakes, NamedDigest};
use crate::known_names::KnownNames;
use crate::libtest::HarnessTest;
use crate::link::{Linked, MadeNode, NO_NODE};
use crate::membership::{Evidence, Memberships, contested, memberships};
use crate::name_map::NameMap;
use crate::renewal::Renewal;
use crate::scan::{BuildTree, Packed, Scanned};
use crate::summary::{NO_ELEMENT, NameKey, SymbolSummary};
use crate::surroundings::{ImageSurroundings, Surroundings};
use crate::symbol_names::demangled;
use crate::toolchain::Toolchain;
use crate::verification;
use crate::virtual_tables::VirtualCalls;
use naming::later_names;
use survey::{Around, Surveyed, TakesIn, add_unseen, note_contents, survey};

const ENVIRONMENT: Domain = Domain::new("environment");
const STALE: Domain = Domain::new("image.stale");
const PROGRAM: Domain = Domain::new("image.program");

/// A program under the build directory that tests may be in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Path below the build directory.
    pub name: String,
    pub has_googletest: bool,
    image: usize,
}

/// A state with everything but its tests.
pub struct Analysis<'t> {
    basis: Basis<'t>,
    tree: &'t BuildTree,
    graph: Graph,
    fingerprints: Fingerprints,
    initialisers: Initialisers,
    surroundings: Surroundings,
    /// Per image the node of its environment.
    environments: Vec<u32>,
    targets: Vec<Target>,
    notes: Vec<String>,
}

/// Where the nodes come from.
enum Basis<'t> {
    /// Linked from the summaries.
    Linked(Box<LinkedTests<'t>>),
    /// Those of the last analysis.
    Kept(&'t Renewal),
}

/// The linked nodes, with what tests begin at in them, once somebody asked.
struct LinkedTests<'t> {
    linked: Linked<'t>,
    /// How many of the nodes are not of what programs run on; those come last.
    base_count: usize,
    symbols: OnceLock<TestSymbols>,
    /// Per image.
    classes: Vec<OnceLock<TestClasses>>,
}

impl LinkedTests<'_> {
    fn classes(&self, image: usize) -> &TestClasses {
        let symbols = || self.symbols.get_or_init(|| TestSymbols::of(&self.linked));
        self.classes[image].get_or_init(|| TestClasses::of_program(&self.linked, symbols(), image))
    }
}

/// What the caller knows of the state besides the build directory.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Files of the project that code may read, with their content.
    pub files: Vec<NamedDigest>,
    /// Variables that the user declares as input.
    pub variables: Vec<NamedDigest>,
    /// Where the loader looks first, from `LD_LIBRARY_PATH`.
    pub library_path: Vec<std::path::PathBuf>,
    /// How calls through virtual tables are followed, where bitcode tells of them.
    pub virtual_calls: VirtualCalls,
    /// The compiler whose own code is in the programs.
    pub toolchain: Option<Toolchain>,
    /// Programs that are known from within: nothing starts them but their tests, and their objects are there.
    pub harnesses: BTreeSet<String>,
    /// Programs whose code was not kept: nobody sees which files and programs it takes in.
    pub unseen: BTreeSet<String>,
    /// Whether the build system has just linked every program with the libraries as they are now: of a harness, only
    /// its own objects can then be newer than it.
    pub is_linked: bool,
}

impl Given {
    /// Whether what an analysis keeps does not depend on it.
    fn is_lasting(&self) -> bool {
        self.toolchain.is_none() && self.harnesses.is_empty() && self.unseen.is_empty()
    }
}

impl<'t> Analysis<'t> {
    /// Analyses what a build directory holds now.
    pub fn of_build(build_directory: &Path, tree: &'t BuildTree, given: Given) -> Analysis<'t> {
        if let Some(analysis) = Analysis::renewed(build_directory, tree, &given) {
            return analysis;
        }
        let is_kept = given.is_lasting();
        let names = KnownNames::of(tree);
        let evidence = Evidence::of(tree, &names);
        let direct = evidence.direct_members();
        let open = contested(tree, &names, &direct);
        let exclusions = verification::exclusions(build_directory, tree, &open);
        let mut settled = direct.clone().without(&exclusions);
        add_dissolved(tree, &mut settled);
        place_in_harnesses(tree, &given.harnesses, &mut settled);
        let members = memberships(tree, settled);
        let mut linked = Linked::link(tree, names, members.used.clone(), given.virtual_calls);
        let around = Around {
            toolchain: given.toolchain.as_ref(),
            library_path: given.library_path.clone(),
            is_linked: given.is_linked,
        };
        let Surveyed { mut images, foreign, locals } =
            survey(build_directory, tree, &members, &linked, around);
        let takes_in = TakesIn::of(&linked);
        note_contents(tree, takes_in, &given.harnesses, &mut images);
        add_unseen(&given, &mut images);
        let surroundings = Surroundings {
            images,
            files: given.files,
            variables: given.variables,
            members: recorded_members(tree, &members.direct),
            virtual_calls: given.virtual_calls,
        };
        let inputs = linked.connect_intakes(&intakes(tree, &surroundings));
        let analysis = Analysis::finish(tree, linked, surroundings);
        if is_kept {
            analysis.keep(keeping::Found {
                evidence,
                direct,
                open,
                exclusions,
                members,
                foreign,
                locals,
                takes_in,
                inputs,
            });
        }
        analysis
    }

    /// Builds a recorded state again.
    pub fn of_record(tree: &'t BuildTree, surroundings: Surroundings) -> Analysis<'t> {
        let members = memberships(tree, members_of_record(tree, &surroundings));
        let mut linked =
            Linked::link(tree, KnownNames::of(tree), members.used.clone(), surroundings.virtual_calls);
        linked.connect_intakes(&intakes(tree, &surroundings));
        Analysis::finish(tree, linked, surroundings)
    }

    fn finish(tree: &'t BuildTree, mut linked: Linked<'t>, surroundings: Surroundings) -> Self {
        let initialisers = initialisers::connect(&mut linked);
        let compilers = compilers(tree, &linked);
        let base_count = linked.node_count();
        let called: Vec<Vec<u32>> =
            tree.images.iter().enumerate().map(|image| called_nodes(&linked, image, &surroundings)).collect();
        let (made, environments) =
            environment_nodes(tree, base_count as u32, &compilers, &called, &surroundings);
        for (node, references) in made {
            linked.make(node.name, node.content, references);
        }
        let graph = build_graph(tree, &linked);
        let notes = notes(tree, &opaque_notes(tree, &linked), &surroundings);
        let classes = tree.images.iter().map(|_| OnceLock::new()).collect();
        let tests = LinkedTests { linked, base_count, symbols: OnceLock::new(), classes };
        let basis = Basis::Linked(Box::new(tests));
        Analysis::complete(basis, tree, graph, initialisers, surroundings, environments, notes)
    }

    fn complete(
        basis: Basis<'t>,
        tree: &'t BuildTree,
        graph: Graph,
        initialisers: Initialisers,
        surroundings: Surroundings,
        environments: Vec<u32>,
        notes: Vec<String>,
    ) -> Self {
        let fingerprints = match &basis {
            Basis::Linked(_) => Fingerprints::compute(&graph),
            Basis::Kept(renewal) => Fingerprints::renewed(&graph, renewal.kept.nodes.before()),
        };
        let targets = tree
            .images
            .iter()
            .enumerate()
            .filter(|(_, image)| !image.summary.is_library)
            .map(|(index, image)| Target {
                name: image.name.clone(),
                has_googletest: image.summary.has_googletest,
                image: index,
            })
            .collect();
        Analysis {
            basis,
            tree,
            graph,
            fingerprints,
            initialisers,
            surroundings,
            environments,
            targets,
            notes,
        }
    }

    /// Whether it builds on the last analysis of the directory.
    pub fn is_renewed(&self) -> bool {
        matches!(self.basis, Basis::Kept(_))
    }

    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// What could not be seen, in words for the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn fingerprints(&self) -> &Fingerprints {
        &self.fingerprints
    }

    /// The object that is newer than the program, if the program is out of date.
    pub fn stale_because(&self, target: &Target) -> Option<&str> {
        self.surroundings.images.get(target.image).and_then(|image| image.stale.as_deref())
    }

    /// Initialisers that every test of their program depends on, each with the function that makes it so.
    pub fn ambient_initialisers(&self) -> Vec<(String, String)> {
        let name = |node: u32| self.graph.name(ElementId(node)).to_string();
        let names = self.initialisers.ambient.iter().map(|(node, _)| name(*node));
        names.zip(self.initialisers.causes.iter().cloned()).collect()
    }

    /// The hash of all that `main` and the initialisers of a program reach: while it stays the same, so does the
    /// program's list of tests.
    pub fn startup_fingerprint(&self, target: &Target) -> Digest {
        let mut roots = self.program_roots(target);
        roots.extend(self.in_program(&self.initialisers.all, target.image));
        self.fingerprints.roots(&elements(roots))
    }

    /// The tests of a GoogleTest program as it lists them.
    pub fn googletest_tests(&self, target: &Target, listed: &[ListedTest]) -> Vec<TestNode> {
        let classes = match &self.basis {
            Basis::Linked(tests) => tests.classes(target.image),
            Basis::Kept(renewal) => &renewal.kept.images[target.image].classes,
        };
        let mut shared = self.shared_roots(target);
        shared.sort_unstable();
        let stale = self.stale_because(target);
        listed
            .iter()
            .map(|test| {
                let (mut roots, mapping) = match (classes.roots(test), stale) {
                    (_, Some(object)) => (Vec::new(), Mapping::Unmapped { cause: stale_cause(object) }),
                    (Ok(roots), None) => (roots, Mapping::Mapped),
                    (Err(cause), None) => (Vec::new(), Mapping::Unmapped { cause }),
                };
                roots.extend(&shared);
                TestNode {
                    id: TestId::new(&target.name, test.name()),
                    roots: elements(roots),
                    mapping,
                    disabled: test.is_disabled,
                }
            })
            .collect()
    }

    /// The tests of a program with Rust's harness, whose `main` knows all of them and therefore is no root.
    pub fn libtest_tests(&self, target: &Target, tests: &[HarnessTest]) -> Vec<TestNode> {
        let Basis::Linked(basis) = &self.basis else {
            // Functions are not kept by name. Programs with harnesses are not kept at all.
            let cause = "the last analysis does not tell where it begins".to_string();
            let unmapped = |test: &HarnessTest| {
                let id = TestId::new(&target.name, &test.name);
                Analysis::unmapped_test(id, cause.clone(), test.is_ignored)
            };
            return tests.iter().map(unmapped).collect();
        };
        let linked = &basis.linked;
        let mut shared = vec![self.environments[target.image]];
        shared.extend(self.in_program(&self.initialisers.ambient, target.image));
        shared.extend(self.allocators(linked, target));
        let stale = self.stale_because(target);
        let mut locals: HashMap<&str, NameMap<u32>> = HashMap::new();
        tests
            .iter()
            .map(|test| {
                let mut roots = shared.clone();
                let found = test.function.as_ref().map(|(function, object)| {
                    let names = locals.entry(object).or_insert_with(|| self.local_names_of(linked, object));
                    let key = NameKey::of(function.as_bytes());
                    let before = roots.len();
                    roots.extend(linked.defined_in(key, target.image));
                    roots.extend(names.get(&key));
                    roots.len() > before
                });
                let gone = || format!("no object of the build holds {}", demangled_function(test));
                let cause = match (stale, &test.cause, found) {
                    (Some(object), ..) => Some(stale_cause(object)),
                    (None, Some(cause), _) => Some(cause.clone()),
                    (None, None, Some(false)) => Some(gone()),
                    (None, None, Some(true) | None) => None,
                };
                TestNode {
                    id: TestId::new(&target.name, &test.name),
                    roots: elements(roots),
                    mapping: cause.map_or(Mapping::Mapped, |cause| Mapping::Unmapped { cause }),
                    disabled: test.is_ignored,
                }
            })
            .collect()
    }

    /// What a program allocates with, where it brings its own: all code of the standard library calls it.
    fn allocators(&self, linked: &Linked<'_>, target: &Target) -> Vec<u32> {
        let mut found = Vec::new();
        for (object, members) in linked.members.iter().enumerate() {
            if !members.contains(target.image) {
                continue;
            }
            let summary = &self.tree.objects[object].summary;
            let is_allocator = |symbol: &&SymbolSummary| {
                symbol.element != NO_ELEMENT && is_allocator(summary.name(symbol.name))
            };
            let elements = summary.symbols.iter().filter(is_allocator).map(|symbol| symbol.element);
            found.extend(elements.map(|element| linked.node_of[object][element as usize]));
        }
        found.retain(|&node| node != NO_NODE);
        found
    }

    fn local_names_of(&self, linked: &Linked<'_>, object: &str) -> NameMap<u32> {
        let place = self.tree.objects.iter().position(|file| file.name == object);
        place.map(|object| local_nodes(linked, object as u32)).unwrap_or_default()
    }

    /// A test that is a whole program: everything in the program is in its reach.
    pub fn program_test(&self, target: &Target, name: &str, disabled: bool) -> TestNode {
        let mut roots = self.shared_roots(target);
        match &self.basis {
            Basis::Linked(tests) => {
                let linked = &tests.linked;
                let is_in = |node: &u32| linked.images[*node as usize].contains(target.image);
                roots.extend((0..linked.element_count() as u32).filter(is_in));
            }
            Basis::Kept(renewal) => roots.extend(renewal.kept.nodes.elements_in(target.image)),
        }
        let mapping = match self.stale_because(target) {
            Some(object) => Mapping::Unmapped { cause: stale_cause(object) },
            None => Mapping::Mapped,
        };
        TestNode { id: TestId::new(&target.name, name), roots: elements(roots), mapping, disabled }
    }

    /// A test of which only the command is known.
    pub fn unmapped_test(id: TestId, cause: String, disabled: bool) -> TestNode {
        TestNode { id, roots: Vec::new(), mapping: Mapping::Unmapped { cause }, disabled }
    }

    /// The graph with the tests found.
    pub fn into_graph(self, tests: Vec<TestNode>) -> (Graph, Fingerprints) {
        (self.graph.with_tests(tests), self.fingerprints)
    }

    /// The elements that come from a set of object files, by the name of the object.
    pub fn elements_of_objects(&self, wanted: impl Fn(&str) -> bool) -> Vec<ElementId> {
        let objects = &self.tree.objects;
        let wanted = (0..objects.len()).filter(|&object| wanted(&objects[object].name));
        elements(match &self.basis {
            Basis::Linked(tests) => wanted.flat_map(|object| tests.linked.nodes_of_object(object)).collect(),
            Basis::Kept(renewal) => renewal.nodes_of_objects(self.tree, wanted),
        })
    }

    fn program_roots(&self, target: &Target) -> Vec<u32> {
        let mut roots = vec![self.environments[target.image]];
        match &self.basis {
            Basis::Linked(tests) => roots.extend(mains(&tests.linked, target.image)),
            Basis::Kept(renewal) => roots.extend(&renewal.kept.images[target.image].mains),
        }
        roots
    }

    fn shared_roots(&self, target: &Target) -> Vec<u32> {
        let mut roots = self.program_roots(target);
        roots.extend(self.in_program(&self.initialisers.ambient, target.image));
        roots
    }

    fn in_program<'a>(
        &self,
        nodes: &'a [(u32, ImageSet)],
        image: usize,
    ) -> impl Iterator<Item = u32> + use<'a> {
        nodes.iter().filter(move |(_, images)| images.contains(image)).map(|(node, _)| *node)
    }
}

fn mains<'l>(linked: &'l Linked<'_>, image: usize) -> impl Iterator<Item = u32> + 'l {
    linked.defined_in(NameKey::of(b"main"), image)
}

fn demangled_function(test: &HarnessTest) -> String {
    test.function.as_ref().map(|(function, _)| demangled(function)).unwrap_or_default()
}

/// The functions that rustc makes of a `#[global_allocator]`: compilers differ in what they call them.
fn is_allocator(name: &[u8]) -> bool {
    const MADE: [&[u8]; 6] = [
        b"__rg_alloc",
        b"__rg_dealloc",
        b"__rg_realloc",
        b"__rust_alloc",
        b"__rust_dealloc",
        b"__rust_realloc",
    ];
    MADE.iter().any(|made| memchr::memmem::find(name, made).is_some())
}

fn stale_cause(object: &str) -> String {
    format!("the program is older than {object}, so it is not what the objects say: build it again")
}

fn elements(nodes: Vec<u32>) -> Vec<ElementId> {
    let mut nodes = nodes;
    // Made of few runs that are sorted: such a list is sorted by merging them.
    nodes.sort();
    nodes.dedup();
    nodes.into_iter().map(ElementId).collect()
}

/// What the code of a build may take in besides code.
fn intakes(tree: &BuildTree, surroundings: &Surroundings) -> Intakes {
    let built = |wants_library: bool| {
        let wanted = |(image, _): &(&Scanned<ImageSummary>, _)| image.summary.is_library == wants_library;
        tree.images
            .iter()
            .zip(&surroundings.images)
            .filter(wanted)
            .filter_map(|(image, around)| {
                Some(NamedDigest { name: image.name.clone(), digest: around.content? })
            })
            .collect()
    };
    Intakes { files: surroundings.files.clone(), programs: built(false), libraries: built(true) }
}

/// An object that goes by the name of a harness is in that program and in no other: two harnesses have equal names,
/// such as `main`.
fn place_in_harnesses(tree: &BuildTree, harnesses: &BTreeSet<String>, direct: &mut [ImageSet]) {
    for (object, members) in tree.objects.iter().zip(direct) {
        let Some((harness, _)) = object.name.rsplit_once('/').filter(|(name, _)| harnesses.contains(*name))
        else {
            continue;
        };
        let image = tree.images.iter().position(|image| image.name == harness);
        *members = ImageSet::empty(tree.images.len());
        image.into_iter().for_each(|image| members.insert(image));
    }
}

/// Memberships as they are recorded: by the names of objects, and the places of images in the record.
fn recorded_members(tree: &BuildTree, direct: &[ImageSet]) -> Vec<(String, Vec<u32>)> {
    let record = |(object, images): (&Scanned<_>, &ImageSet)| {
        (object.name.clone(), images.iter().map(|image| image as u32).collect())
    };
    tree.objects.iter().zip(direct).map(record).collect()
}

/// The inverse of [`recorded_members`], in the order of the tree's objects and images.
fn members_of_record(tree: &BuildTree, surroundings: &Surroundings) -> Vec<ImageSet> {
    let places: HashMap<&str, usize> =
        tree.images.iter().enumerate().map(|(index, image)| (image.name.as_str(), index)).collect();
    let place = |image: &u32| places.get(surroundings.images.get(*image as usize)?.image.as_str()).copied();
    let members: HashMap<&str, &Vec<u32>> =
        surroundings.members.iter().map(|(object, images)| (object.as_str(), images)).collect();
    let of_object = |object: &Scanned<_>| {
        let mut set = ImageSet::empty(tree.images.len());
        let images = members.get(object.name.as_str()).into_iter().flat_map(|images| images.iter());
        images.filter_map(place).for_each(|image| set.insert(image));
        set
    };
    tree.objects.iter().map(of_object).collect()
}

/// Per image the compilers that its objects name.
fn compilers(tree: &BuildTree, linked: &Linked<'_>) -> Vec<Vec<String>> {
    let of_image = |image: usize| {
        let mut compilers: Vec<String> = Vec::new();
        for (object, members) in tree.objects.iter().zip(linked.members.iter()) {
            let compiler = &object.summary.compiler;
            if members.contains(image) && !compiler.is_empty() && !compilers.contains(compiler) {
                compilers.push(compiler.clone());
            }
        }
        compilers
    };
    (0..tree.images.len()).map(of_image).collect()
}

/// A node to be made, with what it refers to.
type NewNode = (MadeNode, Vec<u32>);

/// One node per image that every test of it depends on: compilers, libraries, foreign code, variables. Gives the new
/// nodes, the first of which will have the number `first`, and which of them are those of the images.
fn environment_nodes(
    tree: &BuildTree,
    first: u32,
    compilers: &[Vec<String>],
    called: &[Vec<u32>],
    surroundings: &Surroundings,
) -> (Vec<NewNode>, Vec<u32>) {
    let mut known: BTreeMap<(String, Digest), u32> = BTreeMap::new();
    let mut made: Vec<NewNode> = Vec::new();
    let mut environments = Vec::new();
    let mut make = |name: String, content, references| {
        made.push((MadeNode { name, content }, references));
        first + made.len() as u32 - 1
    };
    for (image, (compilers, called)) in tree.images.iter().zip(compilers.iter().zip(called)) {
        let mut items: Vec<NamedDigest> = surroundings.variables.clone();
        items.extend(compilers.iter().map(|compiler| NamedDigest {
            name: format!("compiler {compiler}"),
            digest: Digest::of(ENVIRONMENT, compiler.as_bytes()),
        }));
        if let Some(around) = surroundings.images.iter().find(|around| around.image == image.name) {
            items.extend(around.items.iter().cloned());
            let of_content =
                |domain| DigestBuilder::new(domain).digest(around.content.unwrap_or_default()).finish();
            if around.stale.is_some() {
                let name = format!("{} (out of date)", image.name);
                items.push(NamedDigest { name, digest: of_content(STALE) });
            }
            if !image.summary.has_googletest && !image.summary.is_library {
                items.push(NamedDigest { name: image.name.clone(), digest: of_content(PROGRAM) });
            }
        }
        let child = |item: NamedDigest| {
            let new = || make(item.name.clone(), item.digest, Vec::new());
            *known.entry((item.name.clone(), item.digest)).or_insert_with(new)
        };
        let mut children: Vec<u32> = items.into_iter().map(child).collect();
        children.extend(called);
        let name = format!("what {} runs on", image.name);
        let content = Digest::of(ENVIRONMENT, b"of program");
        environments.push(make(name, content, children));
    }
    (made, environments)
}

/// What the foreign code of a linked file uses of the project.
fn called_nodes(
    linked: &Linked<'_>,
    (index, image): (usize, &Scanned<ImageSummary>),
    surroundings: &Surroundings,
) -> Vec<u32> {
    let around = surroundings.images.iter().find(|around| around.image == image.name);
    let calls = around.map_or(&[][..], |around| &around.calls);
    calls.iter().flat_map(|key| linked.defined_in(*key, index)).collect()
}

fn build_graph(tree: &BuildTree, linked: &Linked<'_>) -> Graph {
    let count = linked.node_count();
    let mut extra = linked.extra.clone();
    extra.sort_unstable();
    let mut extra = &extra[..];
    let mut rows = Rows::with_capacity(count, linked.reference_count());
    for node in 0..count as u32 {
        let (own, rest) = extra.split_at(extra.iter().take_while(|(from, _)| *from == node).count());
        extra = rest;
        rows.push(linked.row(node).iter().copied().chain(own.iter().map(|(_, to)| *to)));
    }
    let contents = (0..count as u32).map(|node| linked.content(node)).collect();
    let (own, common) = (linked.node_of.clone(), linked.common_nodes.clone());
    let made = linked.made.iter().map(|node| node.name.clone()).collect();
    let names = later_names(tree, linked.element_count(), move || own, move |_: &[Packed]| common, made);
    rows.into_graph(contents, names)
}

/// What could not be read.
fn opaque_notes(tree: &BuildTree, linked: &Linked<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (object, members) in tree.objects.iter().zip(linked.members.iter()) {
        if object.summary.is_opaque() && !members.is_empty() {
            let cause = object.summary.notes.join("; ");
            notes.push(format!("{}: {cause}. Every test depends on the whole file", object.name));
        }
    }
    notes
}

fn notes(tree: &BuildTree, opaque: &[String], surroundings: &Surroundings) -> Vec<String> {
    let mut notes = [&tree.notes, opaque].concat();
    for image in &surroundings.images {
        if let Some(object) = &image.stale {
            notes.push(format!("{}: {}", image.image, stale_cause(object)));
        }
    }
    for image in &tree.images {
        if image.summary.has_googletest && image.summary.is_stripped() {
            notes.push(format!(
                "{}: it has no symbol table, so every object may be part of it and any change of it selects all its tests. Link without -s and without strip",
                image.name
            ));
        }
        if let Some(note) = &image.summary.note {
            notes.push(format!("{}: {note}", image.name));
        }
    }
    notes.sort();
    notes.dedup();
    notes
}
