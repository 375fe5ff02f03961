//! Where each GoogleTest test begins in the linked nodes: its body, its class's vtable, factory and constructors,
//! the hooks of its suite, its parameter generators. Which tests exist is told by the program itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::encoding::{Reader, Writer};
use crate::link::{Linked, NO_NODE};
use crate::name_map::NameMap;
use crate::pack::Pack;
use crate::relocatable::{ElfFile, Place, Section, Symbol};
use crate::summary::{Linkage, NO_ELEMENT, NameKey, TestRole};
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
        [&self.suite, ".", &self.test].concat()
    }
}

/// A class with a `TestBody`, as found in the objects of one program.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Class {
    /// Sorted.
    roots: Vec<u32>,
    /// The demangled class with its template arguments, without blanks.
    template: Option<String>,
}

/// All test classes of one program, by what GoogleTest calls them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestClasses {
    classes: BTreeMap<String, Vec<Class>>,
    /// Generator symbols with their nodes.
    generators: Vec<(String, u32)>,
}

/// The tests that a program's own symbols name, sorted. `None` where it may have others or their names are not certain: with
/// parameters or types, registered at run time, with `_` in a name, or without a symbol table.
pub fn plain_tests(program: &[u8]) -> Option<Vec<ListedTest>> {
    const BODY: &[u8] = b"8TestBodyEv";
    const INFO: &[u8] = b"10test_info_E";
    // It has a test that fails where types lack a test.
    const OWN: &[u8] = b"_ZN7testing";
    let is_defined = |_: &[Section<'_>], symbol: &Symbol<'_>| matches!(symbol.place, Place::Section(_));
    let begin = |_| (BTreeSet::new(), BTreeSet::new());
    let (_, (bodies, named)) = ElfFile::parse_image(program, begin, is_defined, |found, symbol| {
        if !symbol.name.starts_with(b"_ZN") || symbol.name.starts_with(OWN) {
            return;
        }
        if symbol.name.ends_with(BODY) {
            found.0.insert(symbol.name.to_vec());
        } else if let Some(scope) = symbol.name.strip_suffix(INFO) {
            found.1.insert([scope, BODY].concat());
        }
    })
    .ok()?;
    if bodies.is_empty() || bodies != named {
        return None;
    }
    let mut tests = bodies.iter().map(|body| plain_test(body)).collect::<Option<Vec<ListedTest>>>()?;
    tests.sort_by_key(ListedTest::name);
    Some(tests)
}

/// GoogleTest allows `_` in names only after `DISABLED` at their beginning.
fn plain_test(body: &[u8]) -> Option<ListedTest> {
    const DISABLED: &str = "DISABLED_";
    let class = test_class(body).filter(|class| !class.is_template)?.class;
    let class = class.strip_suffix("_Test")?;
    let prefix = |text: &str| if text.starts_with(DISABLED) { DISABLED.len() } else { 0 };
    let border = prefix(class) + class.get(prefix(class)..)?.find('_')?;
    let (suite, test) = (&class[..border], &class[border + 1..]);
    let is_plain = |name: &str| {
        let name = &name[prefix(name)..];
        !name.is_empty() && name != "DISABLED" && !name.contains(['_', ':'])
    };
    (is_plain(suite) && is_plain(test)).then(|| ListedTest {
        suite: suite.to_string(),
        test: test.to_string(),
        is_disabled: prefix(suite) + prefix(test) > 0,
        ..ListedTest::default()
    })
}

const HOOKS: [&str; 4] = ["14SetUpTestSuite", "17TearDownTestSuite", "13SetUpTestCase", "16TearDownTestCase"];

/// What one object has for tests to begin at. Made once for all programs.
#[derive(Default)]
struct ObjectTests {
    /// Names that GoogleTest gave a role, with their nodes.
    roles: Vec<(TestRole, Vec<u8>, u32)>,
    /// Nodes by the names that no other object can see.
    locals: NameMap<u32>,
    /// Factories by the constructor or vtable they use: those name the class.
    factories: HashMap<Vec<u8>, Vec<u32>>,
}

/// What the objects of a build have for tests to begin at.
#[derive(Default)]
pub struct TestSymbols {
    objects: Vec<ObjectTests>,
}

impl TestSymbols {
    pub fn of(linked: &Linked<'_>) -> TestSymbols {
        let has_role: Vec<Vec<bool>> =
            linked.packs.iter().map(|packed| elements_with_role(&packed.pack)).collect();
        let read = |object| ObjectTests::read(linked, object, &has_role);
        TestSymbols { objects: (0..linked.objects.len() as u32).map(read).collect() }
    }

    /// The nodes of a name: the object's own definition, if it is local, and those of the program.
    fn nodes(&self, linked: &Linked<'_>, object: u32, name: &[u8], image: usize) -> Vec<u32> {
        let key = NameKey::of(name);
        let mut nodes: Vec<u32> = linked.defined_in(key, image).collect();
        nodes.extend(self.objects[object as usize].locals.get(&key));
        nodes
    }
}

fn elements_with_role(pack: &Pack) -> Vec<bool> {
    let has_role = |element| pack.symbols_of(element).iter().any(|symbol| symbol.role != TestRole::None);
    (0..pack.elements.len() as u32).map(has_role).collect()
}

impl ObjectTests {
    fn read(linked: &Linked<'_>, object: u32, has_role: &[Vec<bool>]) -> ObjectTests {
        let summary = linked.summary(object);
        let mut tests = ObjectTests::default();
        for symbol in summary.symbols.iter().filter(|symbol| symbol.role != TestRole::None) {
            if symbol.element != NO_ELEMENT {
                let node = linked.node_of[object as usize][symbol.element as usize];
                tests.roles.push((symbol.role, summary.name(symbol.name).to_vec(), node));
            }
        }
        for common in &summary.commons {
            if has_role[common.pack as usize][common.element as usize] {
                let pack = linked.pack(common.pack);
                let node = linked.common_node(*common);
                let symbols = pack.symbols_of(common.element).iter();
                let role = symbols.filter(|symbol| symbol.role != TestRole::None);
                tests.roles.extend(role.map(|symbol| (symbol.role, pack.name(symbol.name).to_vec(), node)));
            }
        }
        tests.roles.retain(|(role, _, node)| *role == TestRole::Body || *node != NO_NODE);
        for &(_, _, node) in tests.roles.iter().filter(|(role, ..)| *role == TestRole::Factory) {
            for name in linked.referred_names(node) {
                tests.factories.entry(name.to_vec()).or_default().push(node);
            }
        }
        if tests.roles.iter().any(|(role, ..)| *role == TestRole::Body) {
            tests.locals = local_nodes(linked, object);
        }
        tests
    }
}

/// The nodes of the names that are local to an object.
pub fn local_nodes(linked: &Linked<'_>, object: u32) -> NameMap<u32> {
    let summary = linked.summary(object);
    let own = summary
        .symbols
        .iter()
        .filter(|symbol| symbol.linkage == Linkage::Local)
        .map(|symbol| (symbol.key, linked.node_of[object as usize][symbol.element as usize]));
    let common = summary.commons.iter().flat_map(|common| {
        let (pack, node) = (linked.pack(common.pack), linked.common_node(*common));
        let symbols = pack.symbols_of(common.element).iter();
        let local = symbols.filter(|symbol| symbol.linkage == Linkage::Local);
        local.map(move |symbol| (pack.names[symbol.name as usize].key, node))
    });
    common.chain(own).filter(|(_, node)| *node != NO_NODE).collect()
}

impl TestClasses {
    /// The classes in the objects of one program.
    pub fn of_program(linked: &Linked<'_>, symbols: &TestSymbols, image: usize) -> TestClasses {
        let mut found = TestClasses::default();
        for object in 0..symbols.objects.len() as u32 {
            if linked.members[object as usize].contains(image) {
                found.read_object(linked, symbols, object, image);
            }
        }
        found.generators.sort();
        found
    }

    fn read_object(&mut self, linked: &Linked<'_>, symbols: &TestSymbols, object: u32, image: usize) {
        for (role, name, node) in &symbols.objects[object as usize].roles {
            match role {
                TestRole::Generator => {
                    self.generators.push((String::from_utf8_lossy(name).into_owned(), *node));
                }
                TestRole::Body => {
                    let Some(class) = test_class(name) else { continue };
                    let roots = class_roots(linked, symbols, object, &class, *node, image);
                    let template =
                        class.is_template.then(|| without_blanks(&demangled(&String::from_utf8_lossy(name))));
                    self.classes.entry(class.class).or_default().push(Class { roots, template });
                }
                TestRole::None | TestRole::Factory | TestRole::SuiteHook => {}
            }
        }
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.word(self.classes.len() as u32);
        for (name, classes) in &self.classes {
            out.bytes(name.as_bytes());
            out.word(classes.len() as u32);
            for class in classes {
                out.bytes(class.template.as_deref().unwrap_or("").as_bytes());
                out.word(class.roots.len() as u32);
                class.roots.iter().for_each(|&root| out.word(root));
            }
        }
        out.word(self.generators.len() as u32);
        for (name, node) in &self.generators {
            out.bytes(name.as_bytes());
            out.word(*node);
        }
    }

    /// The inverse of `write`; `None` for damaged bytes, or nodes beyond the count.
    pub(crate) fn read(input: &mut Reader<'_>, nodes: u32) -> Option<TestClasses> {
        let node = |input: &mut Reader<'_>| input.word().filter(|&node| node < nodes);
        let text = |input: &mut Reader<'_>| String::from_utf8(input.bytes()?.to_vec()).ok();
        let classes = input.list(8, |input| {
            let name = text(input)?;
            let classes = input.list(8, |input| {
                let template = Some(text(input)?).filter(|template| !template.is_empty());
                Some(Class { template, roots: input.list(4, node)? })
            })?;
            Some((name, classes))
        })?;
        let generators = input.list(8, |input| Some((text(input)?, node(input)?)))?;
        Some(TestClasses { classes: classes.into_iter().collect(), generators })
    }

    /// The nodes a test starts from, in any order; the cause where there are none.
    pub fn roots(&self, test: &ListedTest) -> Result<Vec<u32>, String> {
        let name = test.test.split('/').next().unwrap_or(&test.test);
        let mut roots: Vec<u32> = Vec::new();
        for suite in test.suite.split('/') {
            for class in [
                [suite, "_", name, "_Test"].concat(),
                ["gtest_suite_", suite, "_::", name].concat(),
                ["gtest_case_", suite, "_::", name].concat(),
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
        Ok(roots)
    }

    /// The generators of the test's instantiation, or all of them if it cannot be told which.
    fn generators_of(&self, test: &ListedTest) -> Result<Vec<u32>, String> {
        let instantiation: String = test.suite.split('/').collect();
        let stem = format!("gtest_{instantiation}_EvalGenerat");
        let stem = memchr::memmem::Finder::new(&stem);
        let is_own = |(name, _): &&(String, u32)| stem.find(name.as_bytes()).is_some();
        let own: Vec<u32> = self.generators.iter().filter(is_own).map(|(_, node)| *node).collect();
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
    let Some(parameter) = type_parameter.filter(|_| !classes.is_empty()) else {
        return classes.iter().collect();
    };
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

fn class_roots(
    linked: &Linked<'_>,
    symbols: &TestSymbols,
    object: u32,
    class: &TestClass<'_>,
    body: u32,
    image: usize,
) -> Vec<u32> {
    let factories = &symbols.objects[object as usize].factories;
    let mut roots = BTreeSet::from([body]);
    let vtable = vtable_of(class.scope);
    let constructors = ["C1", "C2"].map(|kind| member_of(class.scope, kind));
    for name in [&vtable].into_iter().chain(&constructors) {
        roots.extend(symbols.nodes(linked, object, name, image));
        roots.extend(factories.get(name.as_slice()).into_iter().flatten());
    }
    roots.extend(suite_hooks(linked, symbols, object, class.scope, image));
    roots.remove(&NO_NODE);
    roots.into_iter().collect()
}

/// `SetUpTestSuite` and its siblings of the class and all its bases, found along the type information. Without
/// type information (-fno-rtti) those of every class of the program.
fn suite_hooks(
    linked: &Linked<'_>,
    symbols: &TestSymbols,
    object: u32,
    scope: &[u8],
    image: usize,
) -> Vec<u32> {
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
                hooks.extend(symbols.nodes(linked, object, &member_of(scope, hook), image));
            }
        }
        for node in symbols.nodes(linked, object, &typeinfo, image) {
            has_type_information = true;
            let names = linked.referred_names(node).into_iter();
            pending.extend(names.filter(|name| name.starts_with(b"_ZTI")).map(<[u8]>::to_vec));
        }
    }
    if !has_type_information {
        hooks.extend(every_hook(linked, symbols, image));
    }
    hooks
}

fn every_hook(linked: &Linked<'_>, symbols: &TestSymbols, image: usize) -> Vec<u32> {
    let mut hooks = Vec::new();
    for (object, tests) in symbols.objects.iter().enumerate() {
        if linked.members[object].contains(image) {
            let of_suites = tests.roles.iter().filter(|(role, ..)| *role == TestRole::SuiteHook);
            hooks.extend(of_suites.map(|(_, _, node)| *node));
        }
    }
    hooks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_names_its_test_where_only_one_can_be_meant() {
        let name = |body: &str| plain_test(body.as_bytes()).map(|test| (test.name(), test.is_disabled));
        let plain = |name: &str, is_disabled| Some((name.to_string(), is_disabled));
        assert_eq!(name("_ZN15Shape_Area_Test8TestBodyEv"), plain("Shape.Area", false));
        assert_eq!(name("_ZN12_GLOBAL__N_115Shape_Area_Test8TestBodyEv"), plain("Shape.Area", false));
        assert_eq!(name("_ZN24Shape_DISABLED_Area_Test8TestBodyEv"), plain("Shape.DISABLED_Area", true));
        assert_eq!(name("_ZN24DISABLED_Shape_Area_Test8TestBodyEv"), plain("DISABLED_Shape.Area", true));
        for unclear in ["10A_B_C_Test", "6A_Test", "20A_DISABLED_DISABLED_B", "9Something", "8A_B_TestIiE"] {
            assert_eq!(name(&format!("_ZN{unclear}8TestBodyEv")), None, "{unclear}");
        }
    }
}
