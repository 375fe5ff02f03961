//! The analysis of one state: from scanned files (or recorded summaries) to the graph, its fingerprints, and the
//! tests of each program. Running a program to list its tests is the caller's part.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::OnceLock;

use fewer_core::{
    Digest, DigestBuilder, Domain, ElementId, Fingerprints, Graph, GraphBuilder, Mapping, TestId, TestNode,
};

use crate::dissolved::{add_dissolved, ambiguous_names};
use crate::effects::Intake;
use crate::environment::LibraryFinder;
use crate::foreign::ForeignReader;
use crate::googletest::{ListedTest, TestClasses, TestSymbols, local_nodes};
use crate::image::{ImageSummary, ImageSymbol};
use crate::image_set::ImageSet;
use crate::initialisers::{self, Initialisers};
use crate::intakes::{Intakes, NamedDigest};
use crate::known_names::KnownNames;
use crate::libtest::HarnessTest;
use crate::link::{Linked, NO_NODE};
use crate::membership::{Memberships, contested, direct_members, memberships};
use crate::name_map::{NameMap, SizedNameSet};
use crate::scan::{BuildTree, Scanned, map_file};
use crate::summary::{Linkage, NO_ELEMENT, NameKey, SymbolSummary, Traits, UNKNOWN_SIZE};
use crate::surroundings::{ImageSurroundings, Surroundings};
use crate::symbol_names::demangled;
use crate::toolchain::Toolchain;
use crate::verification;
use crate::virtual_tables::VirtualCalls;

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
    linked: Linked<'t>,
    tree: &'t BuildTree,
    graph: Graph,
    fingerprints: Fingerprints,
    initialisers: Initialisers,
    surroundings: Surroundings,
    /// Per image the node of its environment.
    environments: Vec<u32>,
    targets: Vec<Target>,
    notes: Vec<String>,
    test_symbols: OnceLock<TestSymbols>,
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
}

impl<'t> Analysis<'t> {
    /// Analyses what a build directory holds now.
    pub fn of_build(build_directory: &Path, tree: &'t BuildTree, given: Given) -> Analysis<'t> {
        let names = KnownNames::of(tree);
        let direct = direct_members(tree, &names);
        let open = contested(tree, &direct);
        let exclusions = verification::exclusions(build_directory, tree, &open);
        let mut direct = direct.without(&exclusions);
        add_dissolved(tree, &mut direct);
        place_in_harnesses(tree, &given.harnesses, &mut direct);
        let members = memberships(tree, direct);
        let mut linked = Linked::link(tree, members.used.clone(), given.virtual_calls);
        let around = Around { toolchain: given.toolchain.as_ref(), library_path: given.library_path };
        let mut images = survey(build_directory, tree, &members, &linked, &names, around);
        note_contents(tree, &linked, &given.harnesses, &mut images);
        let surroundings = Surroundings {
            images,
            files: given.files,
            variables: given.variables,
            members: recorded_members(tree, &members.direct),
            virtual_calls: given.virtual_calls,
        };
        connect_intakes(tree, &mut linked, &surroundings);
        Analysis::finish(tree, linked, surroundings)
    }

    /// Builds a recorded state again.
    pub fn of_record(tree: &'t BuildTree, surroundings: Surroundings) -> Analysis<'t> {
        let members = memberships(tree, members_of_record(tree, &surroundings));
        let mut linked = Linked::link(tree, members.used.clone(), surroundings.virtual_calls);
        connect_intakes(tree, &mut linked, &surroundings);
        Analysis::finish(tree, linked, surroundings)
    }

    fn finish(tree: &'t BuildTree, mut linked: Linked<'t>, surroundings: Surroundings) -> Self {
        let initialisers = initialisers::connect(&mut linked);
        let environments = environment_nodes(tree, &mut linked, &surroundings);
        let graph = build_graph(&linked);
        let fingerprints = Fingerprints::compute(&graph);
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
        let notes = notes(tree, &linked, &surroundings);
        Analysis {
            linked,
            tree,
            graph,
            fingerprints,
            initialisers,
            surroundings,
            environments,
            targets,
            notes,
            test_symbols: OnceLock::new(),
        }
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
        let names = self.initialisers.ambient.iter().map(|(node, _)| self.linked.display_name(*node));
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
        let symbols = self.test_symbols.get_or_init(|| TestSymbols::of(&self.linked));
        let classes = TestClasses::of_program(&self.linked, symbols, target.image);
        let shared = self.shared_roots(target);
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
        let mut shared = vec![self.environments[target.image]];
        shared.extend(self.in_program(&self.initialisers.ambient, target.image));
        shared.extend(self.allocators(target));
        let stale = self.stale_because(target);
        let mut locals: HashMap<&str, NameMap<u32>> = HashMap::new();
        tests
            .iter()
            .map(|test| {
                let mut roots = shared.clone();
                let found = test.function.as_ref().map(|(function, object)| {
                    let names = locals.entry(object).or_insert_with(|| self.local_names_of(object));
                    let key = NameKey::of(function.as_bytes());
                    let before = roots.len();
                    roots.extend(self.linked.defined_in(key, target.image));
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
    fn allocators(&self, target: &Target) -> Vec<u32> {
        let mut found = Vec::new();
        for (object, members) in self.linked.members.iter().enumerate() {
            if !members.contains(target.image) {
                continue;
            }
            let summary = &self.tree.objects[object].summary;
            let is_allocator = |symbol: &&SymbolSummary| {
                symbol.element != NO_ELEMENT && is_allocator(summary.name(symbol.name))
            };
            let elements = summary.symbols.iter().filter(is_allocator).map(|symbol| symbol.element);
            found.extend(elements.map(|element| self.linked.node_of[object][element as usize]));
        }
        found.retain(|&node| node != NO_NODE);
        found
    }

    fn local_names_of(&self, object: &str) -> NameMap<u32> {
        let place = self.tree.objects.iter().position(|file| file.name == object);
        place.map(|object| local_nodes(&self.linked, object as u32)).unwrap_or_default()
    }

    /// A test that is a whole program: everything in the program is in its reach.
    pub fn program_test(&self, target: &Target, name: &str, disabled: bool) -> TestNode {
        let mut roots = self.shared_roots(target);
        let count = self.linked.element_count() as u32;
        roots.extend((0..count).filter(|&node| self.linked.images[node as usize].contains(target.image)));
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
        let mut found = Vec::new();
        for (object, file) in self.tree.objects.iter().enumerate() {
            if wanted(&file.name) {
                found.extend(self.linked.nodes_of_object(object));
            }
        }
        found.sort_unstable();
        found.dedup();
        elements(found)
    }

    fn program_roots(&self, target: &Target) -> Vec<u32> {
        let mut roots = vec![self.environments[target.image]];
        roots.extend(self.linked.defined_in(NameKey::of(b"main"), target.image));
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

fn demangled_function(test: &HarnessTest) -> String {
    test.function.as_ref().map(|(function, _)| demangled(function)).unwrap_or_default()
}

/// The functions that rustc makes of a `#[global_allocator]`.
fn is_allocator(name: &[u8]) -> bool {
    const MADE: [&[u8]; 4] = [b"__rg_alloc", b"__rg_dealloc", b"__rg_realloc", b"__rg_alloc_zeroed"];
    MADE.iter().any(|made| memchr::memmem::find(name, made).is_some())
}

fn stale_cause(object: &str) -> String {
    format!("the program is older than {object}, so it is not what the objects say: build it again")
}

fn elements(nodes: Vec<u32>) -> Vec<ElementId> {
    let mut nodes = nodes;
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().map(ElementId).collect()
}

/// Takes down the content of every file that something depends on as a whole: programs without GoogleTest or
/// out of date, and what the code of the build may start or load.
fn note_contents(
    tree: &BuildTree,
    linked: &Linked<'_>,
    harnesses: &BTreeSet<String>,
    images: &mut [ImageSurroundings],
) {
    let (starts, loads) = (linked.takes_in(Intake::Programs), linked.takes_in(Intake::Libraries));
    for (index, around) in images.iter_mut().enumerate() {
        let summary = &tree.images[index].summary;
        let is_harness = harnesses.contains(&around.image);
        let is_taken_in = if summary.is_library { loads } else { starts || !summary.has_googletest };
        if (is_taken_in && !is_harness) || around.stale.is_some() {
            around.content = Some(tree.image_content(index));
        }
    }
}

fn connect_intakes(tree: &BuildTree, linked: &mut Linked<'_>, surroundings: &Surroundings) {
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
    let intakes =
        Intakes { files: surroundings.files.clone(), programs: built(false), libraries: built(true) };
    linked.connect_intakes(&intakes);
}

/// What linked files may hold or load that is not of the build.
struct Around<'g> {
    toolchain: Option<&'g Toolchain>,
    library_path: Vec<std::path::PathBuf>,
}

/// What each linked file has around it: system libraries, foreign code, whether it is up to date.
fn survey(
    build_directory: &Path,
    tree: &BuildTree,
    members: &Memberships,
    linked: &Linked<'_>,
    names: &KnownNames,
    Around { toolchain, library_path }: Around<'_>,
) -> Vec<ImageSurroundings> {
    let locals = local_names(tree);
    let ambiguous = ambiguous_names(tree, &members.direct);
    let programs = linked.programs_by_name(names);
    let mut finder = LibraryFinder::new(library_path);
    let mut foreign = ForeignReader::default();
    let is_own = |name: &str| {
        tree.images
            .iter()
            .any(|image| image.summary.soname == name || image.name.rsplit('/').next() == Some(name))
    };
    tree.images
        .iter()
        .enumerate()
        .map(|(index, image)| {
            let path = tree.path_of(build_directory, &image.name);
            let origin = path.parent().unwrap_or(build_directory);
            let mut items = finder.libraries(&image.summary, origin, is_own);
            items.extend(toolchain.map(|toolchain| toolchain.identity.clone()));
            if let Ok(bytes) = map_file(&path) {
                let is_explained = |(symbol, name): &(&ImageSymbol, u32)| {
                    programs.get(*name as usize).is_some_and(|images| images.contains(index))
                        || toolchain.is_some_and(|toolchain| toolchain.defines(symbol.key))
                        || (!symbol.is_global
                            && [symbol.size, UNKNOWN_SIZE].iter().any(|&size| locals.contains(&(symbol.key, size))))
                };
                let symbols = image.summary.symbols.iter().zip(names.of_image(index));
                let unexplained = symbols.filter(|named| !is_explained(named)).map(|(symbol, _)| symbol);
                let found = foreign.read(&bytes, &image.summary, unexplained.collect());
                if found.symbols > 0 {
                    items.push(NamedDigest {
                        name: format!("code in {} that no object of the build explains", image.name),
                        digest: found.digest,
                    });
                }
            }
            if let Some(name) = ambiguous[index].and_then(|key| defined_name(tree, key)) {
                items.push(NamedDigest {
                    name: format!(
                        "{} as a whole: several objects define {name}, and link-time optimisation hides which of them it holds",
                        image.name
                    ),
                    digest: tree.image_content(index),
                });
            }
            let stale = stale_object(tree, members, index);
            ImageSurroundings { image: image.name.clone(), items, stale, content: None }
        })
        .collect()
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

/// The name behind a key that an object defines.
fn defined_name(tree: &BuildTree, key: NameKey) -> Option<String> {
    tree.objects.iter().find_map(|object| {
        let symbol = object.summary.symbols.iter().find(|symbol| symbol.key == key)?;
        Some(demangled(&String::from_utf8_lossy(object.summary.name(symbol.name))))
    })
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

/// The local names of all objects, with their sizes.
fn local_names(tree: &BuildTree) -> SizedNameSet {
    let own = tree.objects.iter().flat_map(|object| object.summary.symbols.iter());
    let own = own.filter(|symbol| symbol.linkage == Linkage::Local).map(|symbol| (symbol.key, symbol.size));
    let common = tree.held_commons().into_iter().flat_map(|(pack, element)| {
        let local = pack.symbols_of(element).iter().filter(|symbol| symbol.linkage == Linkage::Local);
        local.map(|symbol| (pack.names[symbol.name as usize].key, symbol.size))
    });
    own.chain(common).collect()
}

/// An object of the image that was written after it.
fn stale_object(tree: &BuildTree, members: &Memberships, image: usize) -> Option<String> {
    let linked_at = tree.images[image].modified?;
    tree.objects
        .iter()
        .zip(&members.direct)
        .find(|(object, direct)| {
            direct.contains(image) && object.modified.is_some_and(|written| written > linked_at)
        })
        .map(|(object, _)| object.name.clone())
}

/// One node per image that every test of it depends on: compilers, libraries, foreign code, variables.
fn environment_nodes(tree: &BuildTree, linked: &mut Linked<'_>, surroundings: &Surroundings) -> Vec<u32> {
    let mut made: BTreeMap<(String, Digest), u32> = BTreeMap::new();
    let mut environments = Vec::new();
    for (index, image) in tree.images.iter().enumerate() {
        let mut items: Vec<NamedDigest> = surroundings.variables.clone();
        for (object, members) in tree.objects.iter().zip(linked.members.iter()) {
            if members.contains(index) && !object.summary.compiler.is_empty() {
                let name = format!("compiler {}", object.summary.compiler);
                let digest = Digest::of(ENVIRONMENT, object.summary.compiler.as_bytes());
                items.push(NamedDigest { name, digest });
            }
        }
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
        let children: Vec<u32> = items
            .into_iter()
            .map(|item| {
                *made
                    .entry((item.name.clone(), item.digest))
                    .or_insert_with(|| linked.make(item.name, item.digest, []))
            })
            .collect();
        let name = format!("what {} runs on", image.name);
        let content = Digest::of(ENVIRONMENT, b"of program");
        environments.push(linked.make(name, content, children));
    }
    environments
}

fn build_graph(linked: &Linked<'_>) -> Graph {
    let count = linked.node_count();
    let mut builder = GraphBuilder::with_capacity(count, linked.reference_count());
    builder.reserve_names(linked.text_bytes());
    let mut name = String::new();
    for node in 0..count as u32 {
        name.clear();
        linked.write_display_name(node, &mut name);
        builder.element(&name, linked.content(node));
    }
    for node in 0..linked.element_count() as u32 {
        for &target in linked.row(node) {
            builder.reference(ElementId(node), ElementId(target));
        }
    }
    for &(from, to) in &linked.extra {
        builder.reference(ElementId(from), ElementId(to));
    }
    builder.build()
}

fn notes(tree: &BuildTree, linked: &Linked<'_>, surroundings: &Surroundings) -> Vec<String> {
    let mut notes = tree.notes.clone();
    for (object, members) in tree.objects.iter().zip(linked.members.iter()) {
        let is_opaque = object.summary.elements.iter().any(|element| element.traits.has(Traits::OPAQUE));
        if is_opaque && !members.is_empty() {
            let cause = object.summary.notes.join("; ");
            notes.push(format!("{}: {cause}. Every test depends on the whole file", object.name));
        }
    }
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
