//! Summaries to one graph: every reference is resolved to the definitions that can be meant by it in some
//! program. Equal copies of shared code are one element; unequal ones are all reached.
//! Which object is in which program is told by `membership`, what tests start from by `googletest`.

mod virtual_calls;

use fewer_core::{Digest, Domain};

use crate::effects::{Intake, intake_of};
use crate::image::TEST_RUNNER;
use crate::image_set::ImageSet;
use crate::intakes::{InputNodes, IntakeNodes, Intakes};
use crate::known_names::{ByName, KnownNames, NameNumber};
use crate::name_map::{DigestMap, NameMap};
use crate::pack::Pack;
use crate::scan::{BuildTree, Packed, Scanned};
use crate::summary::*;
use crate::symbol_names::{is_registration_target, test_role};
use crate::virtual_tables::{VirtualCalls, VirtualName};
use virtual_calls::VirtualTables;

pub(crate) const OUTSIDE: Domain = Domain::new("link.outside");
pub(crate) const GROUP: Domain = Domain::new("link.group");

/// No node stands for an element of an object that is in no program, or that nothing refers to.
pub const NO_NODE: u32 = u32::MAX;

/// More definitions than this are gathered behind a node of their own instead of being listed per reference.
const GATHER_ABOVE: usize = 4;

/// Where a node comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// An object's own.
    Element { object: u32, element: u32 },
    /// One that several objects may hold.
    Common(Common),
    /// A symbol that no object of the program defines, several definitions of one name, or an input.
    Made(u32),
}

/// A node that is not an element of an object.
#[derive(Clone, Debug)]
pub struct MadeNode {
    pub name: String,
    pub content: Digest,
}

/// The linked nodes with their references, before tests are known.
pub struct Linked<'s> {
    pub objects: &'s [Scanned<ObjectSummary>],
    pub packs: &'s [Packed],
    /// Per object the programs it can be part of.
    pub members: Vec<ImageSet>,
    /// Common elements by pack first, then the objects' own.
    origins: Vec<Origin>,
    pub images: Vec<ImageSet>,
    pub made: Vec<MadeNode>,
    /// Per object and own element its node.
    pub node_of: Vec<Vec<u32>>,
    /// Per pack and element its node.
    pub common_nodes: Vec<Vec<u32>>,
    /// Per pack and element whether GoogleTest's own objects alone hold it.
    framework_commons: Vec<Vec<bool>>,
    pub names: KnownNames,
    /// The nodes that define each name.
    definitions: ByName<u32>,
    pub is_framework: Vec<bool>,
    /// Rows of references per element node, as resolved; then single ones, of made nodes and what initialisers write.
    offsets: Vec<u32>,
    targets: Vec<u32>,
    pub extra: Vec<(u32, u32)>,
    outside: NameMap<u32>,
    gates: IntakeNodes,
}

/// The owner of an element and its place there; packs are marked.
#[derive(Clone, Copy)]
struct Origin {
    owner: u32,
    element: u32,
}

const OF_PACK: u32 = 1 << 31;

impl<'s> Linked<'s> {
    pub fn link(
        tree: &'s BuildTree,
        names: KnownNames,
        members: Vec<ImageSet>,
        virtual_calls: VirtualCalls,
    ) -> Linked<'s> {
        let objects = &tree.objects[..];
        let mut linked = Linked {
            objects,
            packs: &tree.packs,
            members,
            origins: Vec::new(),
            images: Vec::new(),
            made: Vec::new(),
            node_of: Vec::with_capacity(objects.len()),
            common_nodes: Vec::new(),
            framework_commons: Vec::new(),
            definitions: ByName::with_room(&names, definition_count(tree)),
            names,
            is_framework: objects.iter().map(|object| is_framework(tree, &object.summary)).collect(),
            offsets: Vec::new(),
            targets: Vec::new(),
            extra: Vec::new(),
            outside: NameMap::default(),
            gates: IntakeNodes::default(),
        };
        linked.make_common_nodes();
        linked.make_own_nodes();
        linked.resolve(virtual_calls);
        linked
    }

    /// Whether code of the build takes in something of this kind.
    pub fn takes_in(&self, intake: Intake) -> bool {
        self.gates.has(intake)
    }

    /// Leads all code that takes in something besides code to what that may be.
    pub fn connect_intakes(&mut self, intakes: &Intakes) -> InputNodes {
        std::mem::take(&mut self.gates).finish(self, intakes)
    }

    /// How many nodes are common elements, which come first.
    pub fn common_count(&self) -> usize {
        self.origins.partition_point(|origin| origin.owner & OF_PACK != 0)
    }

    /// How many nodes are elements; the made ones follow them.
    pub fn element_count(&self) -> usize {
        self.origins.len()
    }

    pub fn node_count(&self) -> usize {
        self.origins.len() + self.made.len()
    }

    pub fn node(&self, node: u32) -> Node {
        match self.origins.get(node as usize) {
            Some(&Origin { owner, element }) if owner & OF_PACK != 0 => {
                Node::Common(Common { pack: owner & !OF_PACK, element })
            }
            Some(&Origin { owner, element }) => Node::Element { object: owner, element },
            None => Node::Made(node - self.origins.len() as u32),
        }
    }

    /// References of an element node, as resolved; made nodes keep theirs in `extra`.
    pub fn row(&self, node: u32) -> &[u32] {
        match self.offsets.get(node as usize + 1) {
            Some(&end) => &self.targets[self.offsets[node as usize] as usize..end as usize],
            None => &[],
        }
    }

    pub fn reference_count(&self) -> usize {
        self.targets.len() + self.extra.len()
    }

    pub fn summary(&self, object: u32) -> &'s ObjectSummary {
        &self.objects[object as usize].summary
    }

    pub fn pack(&self, pack: u32) -> &'s Pack {
        &self.packs[pack as usize].pack
    }

    /// What an element node is; `None` for made ones.
    pub fn traits(&self, node: u32) -> Option<Traits> {
        match self.node(node) {
            Node::Element { object, element } => Some(self.summary(object).elements[element as usize].traits),
            Node::Common(Common { pack, element }) => Some(self.pack(pack).elements[element as usize].traits),
            Node::Made(_) => None,
        }
    }

    /// The node of a common element that an object lists.
    pub fn common_node(&self, common: Common) -> u32 {
        self.common_nodes[common.pack as usize][common.element as usize]
    }

    /// Every node that an object holds.
    pub fn nodes_of_object(&self, object: usize) -> impl Iterator<Item = u32> + '_ {
        let common = self.objects[object].summary.commons.iter().map(|&common| self.common_node(common));
        self.node_of[object].iter().copied().chain(common).filter(|&node| node != NO_NODE)
    }

    /// Whether an element is of GoogleTest's own objects alone.
    pub fn is_of_framework(&self, node: u32) -> bool {
        match self.node(node) {
            Node::Element { object, .. } => self.is_framework[object as usize],
            Node::Common(Common { pack, element }) => self.framework_commons[pack as usize][element as usize],
            Node::Made(_) => false,
        }
    }

    /// The names that an element refers to, cut ones included.
    pub fn referred_names(&self, node: u32) -> Vec<&'s [u8]> {
        match self.node(node) {
            Node::Element { object, element } => {
                let summary = self.summary(object);
                let references = summary.references_of(element).iter();
                references.map(|reference| self.referred_name(summary, *reference)).collect()
            }
            Node::Common(Common { pack, element }) => {
                let pack = self.pack(pack);
                pack.references_of(element).iter().map(|&name| pack.name(name)).collect()
            }
            Node::Made(_) => Vec::new(),
        }
    }

    fn referred_name(&self, summary: &'s ObjectSummary, reference: Reference) -> &'s [u8] {
        match reference {
            Reference::Element(element) => summary.element_name(element),
            Reference::Symbol(symbol) => summary.symbol_name(symbol),
            Reference::Common(index) => {
                let Common { pack, element } = summary.commons[index as usize];
                self.pack(pack).element_name(element)
            }
        }
    }

    /// The symbol (or section) that an element node is known by; a made node's name.
    pub fn symbol(&self, node: u32) -> &[u8] {
        match self.node(node) {
            Node::Element { object, element } => self.summary(object).element_name(element),
            Node::Common(Common { pack, element }) => self.pack(pack).element_name(element),
            Node::Made(index) => self.made[index as usize].name.as_bytes(),
        }
    }

    pub fn content(&self, node: u32) -> Digest {
        match self.node(node) {
            Node::Element { object, element } => self.summary(object).elements[element as usize].content,
            Node::Common(Common { pack, element }) => self.pack(pack).elements[element as usize].closure,
            Node::Made(index) => self.made[index as usize].content,
        }
    }

    /// The nodes that define a name in a program.
    pub fn defined_in(&self, key: NameKey, image: usize) -> impl Iterator<Item = u32> + '_ {
        let definitions = self.definitions.of(self.names.find(key));
        definitions.filter(move |&node| self.images[node as usize].contains(image))
    }

    /// Per name the programs that it is defined in; for callers that ask about very many.
    pub fn programs_by_name(&self) -> Vec<ImageSet> {
        let none = ImageSet::empty(self.images.first().map_or(0, ImageSet::capacity));
        let programs = |nodes| {
            let mut programs = none.clone();
            Iterator::for_each(nodes, |node: u32| programs.extend(&self.images[node as usize]));
            programs
        };
        self.definitions.lists().map(programs).collect()
    }

    /// A new node that refers to others.
    pub fn make(&mut self, name: String, content: Digest, references: impl IntoIterator<Item = u32>) -> u32 {
        let node = self.node_count() as u32;
        self.made.push(MadeNode { name, content });
        self.extra.extend(references.into_iter().map(|target| (node, target)));
        node
    }

    /// A node for every common element that an object of a program holds; equal ones of several packs are one.
    fn make_common_nodes(&mut self) {
        let no_image = match self.members.first() {
            Some(members) => members.without_members(),
            None => return,
        };
        let per_element = |pack: &Packed| vec![no_image.clone(); pack.pack.elements.len()];
        let mut images: Vec<Vec<ImageSet>> = self.packs.iter().map(per_element).collect();
        self.framework_commons = self.packs.iter().map(|pack| vec![true; pack.pack.elements.len()]).collect();
        for (object, file) in self.objects.iter().enumerate() {
            let (members, is_framework) = (&self.members[object], self.is_framework[object]);
            for common in file.summary.commons.iter().filter(|_| !members.is_empty()) {
                images[common.pack as usize][common.element as usize].extend(members);
                self.framework_commons[common.pack as usize][common.element as usize] &= is_framework;
            }
        }
        let mut known: DigestMap<u32> = DigestMap::default();
        for (index, (pack, images)) in self.packs.iter().zip(images).enumerate() {
            let mut nodes = vec![NO_NODE; images.len()];
            for (element, images) in images.into_iter().enumerate().filter(|(_, images)| !images.is_empty()) {
                if self.packs.len() > 1 {
                    let closure = pack.pack.elements[element].closure;
                    let node = *known.entry(closure).or_insert(self.origins.len() as u32);
                    if (node as usize) < self.origins.len() {
                        nodes[element] = node;
                        self.images[node as usize].extend(&images);
                        self.disown(node, self.framework_commons[index][element]);
                        continue;
                    }
                }
                nodes[element] = self.origins.len() as u32;
                self.origins.push(Origin { owner: index as u32 | OF_PACK, element: element as u32 });
                self.images.push(images);
                for symbol in pack.pack.symbols_of(element as u32) {
                    if matches!(symbol.linkage, Linkage::Weak | Linkage::Strong) {
                        let name = self.names.of_packed(index as u32, symbol.name);
                        self.definitions.add(name, nodes[element]);
                    }
                }
            }
            self.common_nodes.push(nodes);
        }
    }

    /// Takes a node from GoogleTest's own, where another copy of it is not only theirs.
    fn disown(&mut self, node: u32, is_framework: bool) {
        if let Node::Common(Common { pack, element }) = self.node(node) {
            self.framework_commons[pack as usize][element as usize] &= is_framework;
        }
    }

    fn make_own_nodes(&mut self) {
        for object in 0..self.objects.len() as u32 {
            let summary = self.summary(object);
            let mut nodes = vec![NO_NODE; summary.elements.len()];
            if !self.members[object as usize].is_empty() {
                let mut pending = Vec::new();
                for (element, description) in summary.elements.iter().enumerate() {
                    let traits = description.traits;
                    if !traits.has(Traits::PRIVATE) || traits.has(Traits::INITIALISER) {
                        nodes[element] = self.new_element(object, element as u32);
                        pending.push(element as u32);
                    }
                }
                self.make_private_nodes(object, summary, &mut nodes, pending);
                for (index, symbol) in (0..).zip(&summary.symbols) {
                    if matches!(symbol.linkage, Linkage::Weak | Linkage::Strong) {
                        let name = self.names.of_symbol(object, index);
                        self.definitions.add(name, nodes[symbol.element as usize]);
                    }
                }
            }
            self.node_of.push(nodes);
        }
    }

    fn new_element(&mut self, object: u32, element: u32) -> u32 {
        self.origins.push(Origin { owner: object, element });
        self.images.push(self.members[object as usize].clone());
        self.origins.len() as u32 - 1
    }

    /// Private elements that a new node leads to, directly or through each other; and those that a name in a
    /// section with bounds makes reachable.
    fn make_private_nodes(
        &mut self,
        object: u32,
        summary: &ObjectSummary,
        nodes: &mut [u32],
        mut pending: Vec<u32>,
    ) {
        pending.extend(summary.bounded.iter().map(|bounded| bounded.element));
        for &element in &pending {
            if nodes[element as usize] == NO_NODE {
                nodes[element as usize] = self.new_element(object, element);
            }
        }
        while let Some(element) = pending.pop() {
            for reference in summary.references_of(element) {
                if let Reference::Element(target) = *reference
                    && nodes[target as usize] == NO_NODE
                {
                    nodes[target as usize] = self.new_element(object, target);
                    pending.push(target);
                }
            }
        }
    }

    fn resolve(&mut self, virtual_calls: VirtualCalls) {
        let mut bounds: NameMap<Vec<u32>> = NameMap::default();
        for (object, description) in self.objects.iter().enumerate() {
            for bounded in &description.summary.bounded {
                let node = self.node_of[object][bounded.element as usize];
                if node != NO_NODE {
                    bounds.entry(bounded.start).or_default().push(node);
                    bounds.entry(bounded.stop).or_default().push(node);
                }
            }
        }
        self.offsets.push(0);
        let virtual_tables = self.virtual_tables(virtual_calls);
        let mut resolver = Resolver { bounds, virtual_tables, ..Resolver::default() };
        for node in 0..self.origins.len() as u32 {
            match self.node(node) {
                Node::Common(common) => self.resolve_common(node, common, &mut resolver),
                Node::Element { object, element } => self.resolve_own(node, object, element, &mut resolver),
                Node::Made(_) => {}
            }
            self.offsets.push(self.targets.len() as u32);
        }
        self.gates = resolver.intakes;
    }

    fn resolve_common(&mut self, node: u32, common: Common, resolver: &mut Resolver) {
        let pack = self.pack(common.pack);
        for &name in pack.references_of(common.element) {
            let number = self.names.of_packed(common.pack, name);
            let wanted = Wanted { key: pack.names[name as usize].key, number, text: pack.name(name) };
            self.resolve_name(node, wanted, resolver);
        }
    }

    fn resolve_own(&mut self, node: u32, object: u32, element: u32, resolver: &mut Resolver) {
        let summary = self.summary(object);
        let registers = is_initialiser_code(summary, element);
        let is_cut = |name: &[u8]| {
            is_registration_target(name) || (registers && test_role(name, false) == TestRole::SuiteHook)
        };
        for &reference in summary.references_of(element) {
            let name = self.referred_name(summary, reference);
            if is_cut(name) {
                continue;
            }
            let target = match reference {
                Reference::Element(target) => self.node_of[object as usize][target as usize],
                Reference::Common(index) => self.common_node(summary.commons[index as usize]),
                Reference::Symbol(symbol) => {
                    let number = self.names.of_symbol(object, symbol);
                    let wanted = Wanted { key: summary.symbols[symbol as usize].key, number, text: name };
                    self.resolve_name(node, wanted, resolver);
                    continue;
                }
            };
            if target != NO_NODE {
                self.targets.push(target);
            }
        }
    }

    fn resolve_name(&mut self, node: u32, wanted: Wanted<'_>, resolver: &mut Resolver) {
        let Wanted { key, number, text: name } = wanted;
        if let Some(virtual_name) = VirtualName::of(name) {
            return self.resolve_virtual(node, wanted, virtual_name, resolver);
        }
        let start = self.targets.len();
        let images = &self.images[node as usize];
        let is_near = |other: &u32| self.images[*other as usize].intersects(images);
        self.targets.extend(self.definitions.of(number).filter(is_near));
        if !resolver.bounds.is_empty()
            && let Some(bounded) = resolver.bounds.get(&key)
        {
            self.targets.extend(bounded.iter().copied().filter(is_near));
        }
        let count = self.targets.len() - start;
        if count > GATHER_ABOVE {
            let found = self.targets.split_off(start);
            let gathered = self.gather(key, found, name, resolver);
            self.targets.push(gathered);
        } else if count == 0 {
            self.resolve_outside(node, key, name, resolver);
        }
    }

    /// One node for a set of definitions that many refer to.
    fn gather(&mut self, key: NameKey, definitions: Vec<u32>, name: &[u8], resolver: &mut Resolver) -> u32 {
        if let Some(&node) = resolver.gathered.get(&(key, definitions.clone())) {
            return node;
        }
        let text = String::from_utf8_lossy(name).into_owned();
        let content = Digest::of(GROUP, name);
        let node = self.make(text, content, definitions.iter().copied());
        resolver.gathered.insert((key, definitions), node);
        node
    }

    /// A symbol from outside the project: a node by name, and with it what such a function takes in.
    fn resolve_outside(&mut self, from: u32, key: NameKey, name: &[u8], resolver: &mut Resolver) {
        let node = match self.outside.get(&key) {
            Some(&node) => node,
            None => {
                let node =
                    self.make(String::from_utf8_lossy(name).into_owned(), Digest::of(OUTSIDE, name), []);
                self.outside.insert(key, node);
                if let Some(intake) = intake_of(&String::from_utf8_lossy(name)) {
                    resolver.takes_in.insert(node, intake);
                }
                node
            }
        };
        // GoogleTest itself writes reports and restarts the program for death tests: no input of a test.
        let target = match resolver.takes_in.get(&node) {
            Some(&intake) if !self.is_of_framework(from) => resolver.intakes.gate(self, intake, node),
            Some(_) | None => node,
        };
        self.targets.push(target);
    }
}

/// Compiler-made code that runs before `main`. It hands the hooks of suites to GoogleTest and calls none of them;
/// each test begins at its own.
fn is_initialiser_code(summary: &ObjectSummary, element: u32) -> bool {
    let name = summary.element_name(element);
    summary.elements[element as usize].traits.has(Traits::INITIALISER)
        || name.starts_with(b"_Z41__static_initialization_and_destruction_0")
        || name.starts_with(b"_GLOBAL__sub_I_")
        || name.starts_with(b".text.startup")
}

/// A name that a node refers to.
#[derive(Clone, Copy)]
struct Wanted<'n> {
    key: NameKey,
    number: NameNumber,
    text: &'n [u8],
}

/// No less than all that a build defines.
fn definition_count(tree: &BuildTree) -> usize {
    let own: usize = tree.objects.iter().map(|object| object.summary.symbols.len()).sum();
    own + tree.packs.iter().map(|packed| packed.pack.symbols.len()).sum::<usize>()
}

/// What resolving remembers between references.
#[derive(Default)]
struct Resolver {
    virtual_tables: VirtualTables,
    bounds: NameMap<Vec<u32>>,
    gathered: std::collections::HashMap<(NameKey, Vec<u32>), u32>,
    intakes: IntakeNodes,
    /// Nodes of outside functions that take something in.
    takes_in: std::collections::HashMap<u32, Intake>,
}

/// GoogleTest's own objects, where the project builds it: the one that defines its runner, or one whose strong
/// names are all in namespace testing; and no tests in it.
fn is_framework(tree: &BuildTree, summary: &ObjectSummary) -> bool {
    const NAMESPACE: [&[u8]; 5] =
        [b"_ZN7testing", b"_ZNK7testing", b"_ZTVN7testing", b"_ZTIN7testing", b"_ZTSN7testing"];
    let mut strong = summary
        .symbols
        .iter()
        .filter(|symbol| symbol.linkage == Linkage::Strong)
        .map(|symbol| summary.name(symbol.name))
        .filter(|name| !name.starts_with(b"_Zls"))
        .peekable();
    let runner = NameKey::of(TEST_RUNNER);
    let has_runner =
        summary.symbols.iter().any(|symbol| symbol.key == runner && symbol.linkage == Linkage::Strong);
    let is_named_so = has_runner
        || (strong.peek().is_some()
            && strong.all(|name| NAMESPACE.iter().any(|prefix| name.starts_with(prefix))));
    let has_body = |common: &Common| {
        let symbols = tree.packs[common.pack as usize].pack.symbols_of(common.element);
        symbols.iter().any(|symbol| symbol.role == TestRole::Body)
    };
    is_named_so
        && !summary.symbols.iter().any(|symbol| symbol.role == TestRole::Body)
        && !summary.commons.iter().any(has_body)
}
