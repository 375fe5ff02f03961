//! Summaries to one graph: every reference is resolved to the definitions that can be meant by it in some
//! program. Equal copies of shared code are one element; unequal ones are all reached.
//! Which object is in which program is told by `membership`, what tests start from by `googletest`.

use fewer_core::{Digest, DigestBuilder, Domain};

use crate::effects::{Intake, intake_of};
use crate::image::TEST_RUNNER;
use crate::image_set::ImageSet;
use crate::name_map::{DigestMap, NameMap};
use crate::scan::Scanned;
use crate::summary::*;
use crate::symbol_names::{is_registration_target, test_role};

const OUTSIDE: Domain = Domain::new("link.outside");
const GROUP: Domain = Domain::new("link.group");

/// No node stands for an element of an object that is in no program, or that nothing refers to.
pub const NO_NODE: u32 = u32::MAX;

/// More definitions than this are gathered behind a node of their own instead of being listed per reference.
const GATHER_ABOVE: usize = 4;

/// Where a node comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    Element {
        object: u32,
        element: u32,
    },
    /// A symbol that no object of the program defines, several definitions of one name, or an input.
    Made(u32),
}

/// A node that is not an element of an object.
#[derive(Clone, Debug)]
pub struct MadeNode {
    pub name: String,
    pub content: Digest,
}

/// An input that is not code, with its content. Example: `file testdata/a.txt`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedDigest {
    pub name: String,
    pub digest: Digest,
}

/// What code may take in besides code.
#[derive(Clone, Debug, Default)]
pub struct Intakes {
    pub files: Vec<NamedDigest>,
    pub programs: Vec<NamedDigest>,
    pub libraries: Vec<NamedDigest>,
}

/// The linked nodes with their references, before tests are known.
pub struct Linked<'s> {
    pub objects: &'s [Scanned<ObjectSummary>],
    /// Per object the programs it can be part of.
    pub members: Vec<ImageSet>,
    pub elements: Vec<(u32, u32)>,
    pub images: Vec<ImageSet>,
    pub made: Vec<MadeNode>,
    /// Per object and element its node.
    pub node_of: Vec<Vec<u32>>,
    definitions: Definitions,
    pub is_framework: Vec<bool>,
    /// Rows of references per element node, then single ones for made nodes.
    offsets: Vec<u32>,
    targets: Vec<u32>,
    pub extra: Vec<(u32, u32)>,
    outside: NameMap<u32>,
}

impl<'s> Linked<'s> {
    pub fn link(
        objects: &'s [Scanned<ObjectSummary>],
        members: Vec<ImageSet>,
        intakes: &Intakes,
    ) -> Linked<'s> {
        let mut linked = Linked {
            objects,
            members,
            elements: Vec::new(),
            images: Vec::new(),
            made: Vec::new(),
            node_of: Vec::with_capacity(objects.len()),
            definitions: Definitions::default(),
            is_framework: objects.iter().map(|object| is_framework(&object.summary)).collect(),
            offsets: Vec::new(),
            targets: Vec::new(),
            extra: Vec::new(),
            outside: NameMap::default(),
        };
        linked.make_nodes();
        linked.resolve(intakes);
        linked
    }

    pub fn node_count(&self) -> usize {
        self.elements.len() + self.made.len()
    }

    pub fn node(&self, node: u32) -> Node {
        match self.elements.get(node as usize) {
            Some(&(object, element)) => Node::Element { object, element },
            None => Node::Made(node - self.elements.len() as u32),
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

    pub fn summary(&self, object: u32) -> &ObjectSummary {
        &self.objects[object as usize].summary
    }

    pub fn element(&self, node: u32) -> Option<&ElementSummary> {
        let &(object, element) = self.elements.get(node as usize)?;
        Some(&self.summary(object).elements[element as usize])
    }

    /// The symbol (or section) that an element node is known by; a made node's name.
    pub fn symbol(&self, node: u32) -> &[u8] {
        match self.node(node) {
            Node::Element { object, element } => self.summary(object).element_name(element),
            Node::Made(index) => self.made[index as usize].name.as_bytes(),
        }
    }

    /// The name for people and other states. Shared elements belong to no one object.
    pub fn display_name(&self, node: u32) -> String {
        let mut name = String::new();
        self.write_display_name(node, &mut name);
        name
    }

    /// Appends the display name; for callers that name many.
    pub fn write_display_name(&self, node: u32, out: &mut String) {
        if let Node::Element { object, element } = self.node(node) {
            let traits = self.summary(object).elements[element as usize].traits;
            if !traits.has(Traits::SHARED) || traits.has(Traits::PRIVATE) {
                out.push_str(&self.objects[object as usize].name);
                out.push(':');
            }
        }
        match std::str::from_utf8(self.symbol(node)) {
            Ok(symbol) => out.push_str(symbol),
            Err(_) => out.push_str(&String::from_utf8_lossy(self.symbol(node))),
        }
    }

    pub fn content(&self, node: u32) -> Digest {
        match self.node(node) {
            Node::Element { object, element } => self.summary(object).elements[element as usize].content,
            Node::Made(index) => self.made[index as usize].content,
        }
    }

    /// The nodes that define a name in a program.
    pub fn defined_in(&self, key: NameKey, image: usize) -> impl Iterator<Item = u32> + '_ {
        self.definitions.of(key).filter(move |&node| self.images[node as usize].contains(image))
    }

    /// A new node that refers to others.
    pub fn make(&mut self, name: String, content: Digest, references: impl IntoIterator<Item = u32>) -> u32 {
        let node = self.node_count() as u32;
        self.made.push(MadeNode { name, content });
        self.extra.extend(references.into_iter().map(|target| (node, target)));
        node
    }

    fn make_nodes(&mut self) {
        let mut shared: DigestMap<u32> = DigestMap::default();
        for object in 0..self.objects.len() as u32 {
            let summary = &self.objects[object as usize].summary;
            let mut nodes = vec![NO_NODE; summary.elements.len()];
            let mut is_copy = vec![false; summary.elements.len()];
            if !self.members[object as usize].is_empty() {
                let mut pending = Vec::new();
                for (element, description) in summary.elements.iter().enumerate() {
                    let traits = description.traits;
                    if traits.has(Traits::PRIVATE) && !traits.has(Traits::INITIALISER) {
                        continue;
                    }
                    if let Some(closure) = description.closure
                        && let Some(&known) = shared.get(&closure)
                    {
                        nodes[element] = known;
                        is_copy[element] = true;
                        let members = &self.members[object as usize];
                        self.images[known as usize].extend(members);
                        continue;
                    }
                    nodes[element] = self.new_element(object, element as u32);
                    if let Some(closure) = description.closure {
                        shared.insert(closure, nodes[element]);
                    }
                    pending.push(element as u32);
                }
                self.make_private_nodes(object, summary, &mut nodes, pending);
                self.note_definitions(summary, &nodes, &is_copy);
            }
            self.node_of.push(nodes);
        }
    }

    fn new_element(&mut self, object: u32, element: u32) -> u32 {
        self.elements.push((object, element));
        self.images.push(self.members[object as usize].clone());
        self.elements.len() as u32 - 1
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

    /// The names that the object's new nodes define; copies defined the same names when they were first met.
    fn note_definitions(&mut self, summary: &ObjectSummary, nodes: &[u32], is_copy: &[bool]) {
        for symbol in &summary.symbols {
            let is_definition = matches!(symbol.linkage, Linkage::Weak | Linkage::Strong);
            if is_definition && !is_copy[symbol.element as usize] {
                self.definitions.add(symbol.key, nodes[symbol.element as usize]);
            }
        }
    }

    fn resolve(&mut self, intakes: &Intakes) {
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
        let mut resolver = Resolver { bounds, gathered: Default::default(), intakes: IntakeNodes::default() };
        for node in 0..self.elements.len() as u32 {
            self.resolve_element(node, &mut resolver);
            self.offsets.push(self.targets.len() as u32);
        }
        resolver.intakes.finish(self, intakes);
    }

    fn resolve_element(&mut self, node: u32, resolver: &mut Resolver) {
        let (object, element) = self.elements[node as usize];
        let summary: &'s ObjectSummary = &self.objects[object as usize].summary;
        let registers = is_initialiser_code(summary, element);
        let is_cut = |name: &[u8]| {
            is_registration_target(name) || (registers && test_role(name, false) == TestRole::SuiteHook)
        };
        for reference in summary.references_of(element) {
            match *reference {
                Reference::Element(target) => {
                    let target_node = self.node_of[object as usize][target as usize];
                    if target_node != NO_NODE && !is_cut(summary.element_name(target)) {
                        self.targets.push(target_node);
                    }
                }
                Reference::Symbol(symbol) => {
                    if !is_cut(summary.symbol_name(symbol)) {
                        self.resolve_symbol(node, object, symbol, resolver);
                    }
                }
            }
        }
    }

    fn resolve_symbol(&mut self, node: u32, object: u32, symbol: u32, resolver: &mut Resolver) {
        let summary: &'s ObjectSummary = &self.objects[object as usize].summary;
        let key = summary.symbols[symbol as usize].key;
        let start = self.targets.len();
        let images = &self.images[node as usize];
        let is_near = |other: &u32| self.images[*other as usize].intersects(images);
        self.targets.extend(self.definitions.of(key).filter(is_near));
        if let Some(bounded) = resolver.bounds.get(&key) {
            self.targets.extend(bounded.iter().copied().filter(is_near));
        }
        let count = self.targets.len() - start;
        if count > GATHER_ABOVE {
            let found = self.targets.split_off(start);
            let gathered = self.gather(key, found, summary.symbol_name(symbol), resolver);
            self.targets.push(gathered);
        } else if count == 0 {
            self.resolve_outside(key, object, summary.symbol_name(symbol), resolver);
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
    fn resolve_outside(&mut self, key: NameKey, object: u32, name: &[u8], resolver: &mut Resolver) {
        let node = match self.outside.get(&key) {
            Some(&node) => node,
            None => {
                let node =
                    self.make(String::from_utf8_lossy(name).into_owned(), Digest::of(OUTSIDE, name), []);
                self.outside.insert(key, node);
                node
            }
        };
        // GoogleTest itself writes reports and restarts the program for death tests: no input of a test.
        if let Some(intake) = intake_of(&String::from_utf8_lossy(name))
            && !self.is_framework[object as usize]
        {
            let gate = resolver.intakes.gate(self, intake, node);
            self.targets.push(gate);
        } else {
            self.targets.push(node);
        }
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

/// The nodes that define each name, as lists threaded through one array: most names have one definition.
#[derive(Default)]
struct Definitions {
    /// Per name the newest entry.
    heads: NameMap<u32>,
    /// Node and next older entry of the same name.
    entries: Vec<(u32, u32)>,
}

impl Definitions {
    fn add(&mut self, key: NameKey, node: u32) {
        let entry = self.entries.len() as u32;
        let older = self.heads.insert(key, entry).unwrap_or(NO_NODE);
        self.entries.push((node, older));
    }

    fn of(&self, key: NameKey) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.heads.get(&key).copied().unwrap_or(NO_NODE);
        std::iter::from_fn(move || {
            let &(node, older) = self.entries.get(next as usize)?;
            next = older;
            Some(node)
        })
    }
}

/// What resolving remembers between references.
struct Resolver {
    bounds: NameMap<Vec<u32>>,
    gathered: std::collections::HashMap<(NameKey, Vec<u32>), u32>,
    intakes: IntakeNodes,
}

/// Nodes through which code reaches files, programs and libraries; made when the first code needs them.
#[derive(Default)]
struct IntakeNodes {
    gates: std::collections::BTreeMap<(Intake, u32), u32>,
}

impl IntakeNodes {
    /// The node for project code that uses the outside function `function`.
    fn gate(&mut self, linked: &mut Linked<'_>, intake: Intake, function: u32) -> u32 {
        if let Some(&gate) = self.gates.get(&(intake, function)) {
            return gate;
        }
        let name = String::from_utf8_lossy(linked.symbol(function)).into_owned();
        let content = DigestBuilder::new(OUTSIDE).text("intake").text(&name).finish();
        let gate = linked.make(name, content, [function]);
        self.gates.insert((intake, function), gate);
        gate
    }

    fn finish(self, linked: &mut Linked<'_>, intakes: &Intakes) {
        for intake in [Intake::Files, Intake::Programs, Intake::Libraries] {
            let gates: Vec<u32> =
                self.gates.iter().filter(|((kind, _), _)| *kind == intake).map(|(_, &gate)| gate).collect();
            if gates.is_empty() {
                continue;
            }
            let (title, inputs) = match intake {
                Intake::Files => ("files of the project that are not code", &intakes.files),
                Intake::Programs => ("programs built by the project", &intakes.programs),
                Intake::Libraries => ("libraries built by the project", &intakes.libraries),
            };
            let children: Vec<u32> =
                inputs.iter().map(|input| linked.make(input.name.clone(), input.digest, [])).collect();
            let hub = linked.make(title.to_string(), Digest::of(GROUP, title.as_bytes()), children);
            linked.extra.extend(gates.into_iter().map(|gate| (gate, hub)));
        }
    }
}

/// GoogleTest's own objects, where the project builds it: the one that defines its runner, or one whose strong
/// names are all in namespace testing; and no tests in it.
fn is_framework(summary: &ObjectSummary) -> bool {
    const NAMESPACE: [&[u8]; 5] =
        [b"_ZN7testing", b"_ZNK7testing", b"_ZTVN7testing", b"_ZTIN7testing", b"_ZTSN7testing"];
    if summary.symbols.iter().any(|symbol| symbol.role == TestRole::Body) {
        return false;
    }
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
    has_runner
        || (strong.peek().is_some()
            && strong.all(|name| NAMESPACE.iter().any(|prefix| name.starts_with(prefix))))
}
