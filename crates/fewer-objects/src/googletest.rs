//! Where each GoogleTest test begins in the linked nodes: its body, its class's vtable, factory and constructors,
//! the hooks of its suite, its parameter generators. Which tests exist is told by the program itself.

use std::collections::{BTreeSet, HashMap};

use crate::link::{Linked, NO_NODE, Node};
use crate::summary::{NameKey, Reference, TestRole};
use crate::symbol_names::*;

/// A test as the program lists it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListedTest {
    /// The suite with prefix and type index. Example: `My/Queue/0`.
    pub suite: String,
    /// The test with its parameter index. Example: `Pops/3`.
    pub test: String,
    /// The type of a typed test, as GoogleTest prints it.
    pub type_parameter: Option<String>,
    pub has_value_parameter: bool,
    pub is_disabled: bool,
}

impl ListedTest {
    /// The framework's own name. Example: `My/Queue/0.Pops`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.suite, self.test)
    }
}

/// A class with a `TestBody`, as found in the objects of one program.
struct Class {
    roots: BTreeSet<u32>,
    /// The demangled class with its template arguments, without blanks.
    template: Option<String>,
}

/// All test classes of one program, by what GoogleTest calls them.
pub struct TestClasses {
    classes: HashMap<String, Vec<Class>>,
    /// Generator symbols with their nodes.
    generators: Vec<(String, u32)>,
}

const HOOKS: [&str; 4] = ["14SetUpTestSuite", "17TearDownTestSuite", "13SetUpTestCase", "16TearDownTestCase"];

/// Symbols of one object that tests begin at.
struct ObjectSymbols<'l> {
    linked: &'l Linked<'l>,
    object: u32,
    by_key: HashMap<NameKey, u32>,
}

impl<'l> ObjectSymbols<'l> {
    fn new(linked: &'l Linked<'l>, object: u32) -> Self {
        let summary = linked.summary(object);
        let by_key = summary
            .symbols
            .iter()
            .filter(|symbol| symbol.element != crate::summary::NO_ELEMENT)
            .map(|symbol| (symbol.key, symbol.element))
            .collect();
        ObjectSymbols { linked, object, by_key }
    }

    /// The nodes of a name: this object's own definition (local ones included), and those of the program.
    fn nodes(&self, name: &[u8], image: usize) -> Vec<u32> {
        let key = NameKey::of(name);
        let mut nodes: Vec<u32> = self.linked.defined_in(key, image).collect();
        if let Some(&element) = self.by_key.get(&key) {
            nodes.push(self.linked.node_of[self.object as usize][element as usize]);
        }
        nodes.retain(|&node| node != NO_NODE);
        nodes
    }
}

impl TestClasses {
    /// Reads the objects of one program.
    pub fn of_program(linked: &Linked<'_>, image: usize) -> TestClasses {
        let mut found = TestClasses { classes: HashMap::new(), generators: Vec::new() };
        for object in 0..linked.objects.len() as u32 {
            if linked.members[object as usize].contains(image) {
                found.read_object(linked, object, image);
            }
        }
        found.generators.sort();
        found
    }

    fn read_object(&mut self, linked: &Linked<'_>, object: u32, image: usize) {
        let summary = linked.summary(object);
        let mut symbols: Option<ObjectSymbols<'_>> = None;
        let factories = factories(linked, object);
        for symbol in &summary.symbols {
            if symbol.element == crate::summary::NO_ELEMENT {
                continue;
            }
            let node = linked.node_of[object as usize][symbol.element as usize];
            let name = summary.name(symbol.name);
            match symbol.role {
                TestRole::Generator if node != NO_NODE => {
                    self.generators.push((String::from_utf8_lossy(name).into_owned(), node));
                }
                TestRole::Body => {
                    let Some(class) = test_class(name) else { continue };
                    let symbols = symbols.get_or_insert_with(|| ObjectSymbols::new(linked, object));
                    let roots = class_roots(symbols, &class, &factories, node, image);
                    let template =
                        class.is_template.then(|| without_blanks(&demangled(&String::from_utf8_lossy(name))));
                    self.classes.entry(class.class).or_default().push(Class { roots, template });
                }
                TestRole::None | TestRole::Factory | TestRole::SuiteHook | TestRole::Generator => {}
            }
        }
    }

    /// The nodes a test starts from; the cause where there are none.
    pub fn roots(&self, test: &ListedTest) -> Result<Vec<u32>, String> {
        let name = test.test.split('/').next().unwrap_or(&test.test);
        let mut roots: BTreeSet<u32> = BTreeSet::new();
        for suite in test.suite.split('/') {
            for class in [
                format!("{suite}_{name}_Test"),
                format!("gtest_suite_{suite}_::{name}"),
                format!("gtest_case_{suite}_::{name}"),
            ] {
                let candidates = self.classes.get(&class).map_or(&[][..], Vec::as_slice);
                for class in matching(candidates, test.type_parameter.as_deref()) {
                    roots.extend(&class.roots);
                }
            }
        }
        if roots.is_empty() {
            return Err(
                "no symbol of the build stands for it (registered at run time, or its object is gone)"
                    .to_string(),
            );
        }
        if test.has_value_parameter {
            roots.extend(self.generators_of(test)?);
        }
        Ok(roots.into_iter().collect())
    }

    /// The generators of the test's instantiation, or all of them if it cannot be told which.
    fn generators_of(&self, test: &ListedTest) -> Result<Vec<u32>, String> {
        let instantiation: String = test.suite.split('/').collect();
        let stem = format!("gtest_{instantiation}_EvalGenerat");
        let own: Vec<u32> =
            self.generators.iter().filter(|(name, _)| name.contains(&stem)).map(|(_, node)| *node).collect();
        if !own.is_empty() {
            return Ok(own);
        }
        if self.generators.is_empty() {
            return Err("its parameter generator is not in any object of the build".to_string());
        }
        Ok(self.generators.iter().map(|(_, node)| *node).collect())
    }
}

/// The classes that a test may mean: of a template, the instance for its type, or all if none can be told.
fn matching<'c>(classes: &'c [Class], type_parameter: Option<&str>) -> Vec<&'c Class> {
    let Some(parameter) = type_parameter else { return classes.iter().collect() };
    let wanted = format!("<{}>::TestBody()", without_blanks(parameter));
    let exact: Vec<&Class> = classes
        .iter()
        .filter(|class| class.template.as_deref().is_some_and(|template| template.ends_with(&wanted)))
        .collect();
    if exact.is_empty() { classes.iter().collect() } else { exact }
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Factories of one object by the constructor or vtable they use: those name the class.
fn factories(linked: &Linked<'_>, object: u32) -> HashMap<Vec<u8>, Vec<u32>> {
    let summary = linked.summary(object);
    let mut factories: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
    for symbol in &summary.symbols {
        if symbol.role != TestRole::Factory || symbol.element == crate::summary::NO_ELEMENT {
            continue;
        }
        let node = linked.node_of[object as usize][symbol.element as usize];
        if node == NO_NODE {
            continue;
        }
        for reference in summary.references_of(symbol.element) {
            let name = match *reference {
                Reference::Element(element) => summary.element_name(element),
                Reference::Symbol(symbol) => summary.symbol_name(symbol),
            };
            factories.entry(name.to_vec()).or_default().push(node);
        }
    }
    factories
}

fn class_roots(
    symbols: &ObjectSymbols<'_>,
    class: &TestClass<'_>,
    factories: &HashMap<Vec<u8>, Vec<u32>>,
    body: u32,
    image: usize,
) -> BTreeSet<u32> {
    let mut roots = BTreeSet::from([body]);
    let vtable = vtable_of(class.scope);
    let constructors = ["C1", "C2"].map(|kind| member_of(class.scope, kind));
    for name in [&vtable].into_iter().chain(&constructors) {
        roots.extend(symbols.nodes(name, image));
        roots.extend(factories.get(name.as_slice()).into_iter().flatten());
    }
    roots.extend(suite_hooks(symbols, class.scope, image));
    roots.remove(&NO_NODE);
    roots
}

/// `SetUpTestSuite` and its siblings of the class and all its bases, found along the type information. Without
/// type information (-fno-rtti) those of every class of the program.
fn suite_hooks(symbols: &ObjectSymbols<'_>, scope: &[u8], image: usize) -> Vec<u32> {
    let linked = symbols.linked;
    let mut hooks = Vec::new();
    let mut pending = vec![typeinfo_of(scope)];
    let mut seen = BTreeSet::new();
    let mut has_type_information = false;
    while let Some(typeinfo) = pending.pop() {
        if !seen.insert(typeinfo.clone()) || typeinfo == b"_ZTIN7testing4TestE" {
            continue;
        }
        if let Some(scope) = scope_of_typeinfo(&typeinfo) {
            for hook in HOOKS {
                hooks.extend(symbols.nodes(&member_of(scope, hook), image));
            }
        }
        for node in symbols.nodes(&typeinfo, image) {
            has_type_information = true;
            if let Node::Element { object, element } = linked.node(node) {
                let summary = linked.summary(object);
                for reference in summary.references_of(element) {
                    let name = match *reference {
                        Reference::Element(element) => summary.element_name(element),
                        Reference::Symbol(symbol) => summary.symbol_name(symbol),
                    };
                    if name.starts_with(b"_ZTI") {
                        pending.push(name.to_vec());
                    }
                }
            }
        }
    }
    if !has_type_information {
        hooks.extend(every_hook(linked, image));
    }
    hooks
}

fn every_hook(linked: &Linked<'_>, image: usize) -> Vec<u32> {
    let mut hooks = Vec::new();
    for (object, file) in linked.objects.iter().enumerate() {
        if !linked.members[object].contains(image) {
            continue;
        }
        for symbol in &file.summary.symbols {
            if symbol.role == TestRole::SuiteHook && symbol.element != crate::summary::NO_ELEMENT {
                hooks.push(linked.node_of[object][symbol.element as usize]);
            }
        }
    }
    hooks.retain(|&node| node != NO_NODE);
    hooks
}
