//! Which classes hold tests: JUnit 3, 4 and 5, TestNG and what builds on them, judged by annotations, super
//! types and names. The same rules for both readers; what a test reaches is not decided here.

use std::collections::HashMap;

use fewer_core::TestId;

use crate::program::{Class, ToldTest};
use crate::summary::{ClassSummary, ClassTraits, MemberSummary, MemberTraits, top_level_of};

/// Annotations on methods (and TestNG's on classes) that make tests, by simple name.
const TEST_ANNOTATIONS: &[&str] = &[
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
    "Theory",
    "Property",
    "Example",
    "CartesianTest",
    "RetryingTest",
    "ArchTest",
    "Before",
    "BeforeEach",
    "BeforeAll",
    "BeforeClass",
];

/// Annotations on classes that make them run as tests whatever they contain.
const RUNNER_ANNOTATIONS: &[&str] =
    &["RunWith", "Suite", "SuiteClasses", "SelectClasses", "SelectPackages", "Cucumber", "Testable"];

const DISABLING_ANNOTATIONS: &[&str] = &["Disabled", "Ignore"];

/// A test class, as build tools know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TestClass {
    pub id: TestId,
    /// Index of the top-level class.
    pub class: usize,
    /// Indexes of it, of all classes nested in it, and of the inner classes with tests that it inherits.
    pub nest: Vec<usize>,
    pub is_disabled: bool,
}

/// All test classes, in the order of the classes, then those that are only told.
pub(crate) fn test_classes(classes: &[Class], told: &[ToldTest]) -> Vec<TestClass> {
    let detector = Detector::new(classes);
    let nests = nests(classes);
    let mut found = Vec::new();
    for (index, class) in classes.iter().enumerate() {
        let summary = &class.summary;
        if top_level_of(&summary.name) != summary.name {
            continue;
        }
        let Some(nest) = nests.get(&(&*class.module, summary.name.as_str())) else { continue };
        if nest.iter().any(|&member| detector.is_runnable_test(member)) {
            found.push(TestClass {
                id: TestId::new(&*class.module, &summary.name),
                class: index,
                nest: detector.with_inherited(nest),
                is_disabled: detector.is_disabled(summary),
            });
        }
    }
    found.extend(told.iter().filter_map(|test| told_class(classes, &nests, test)));
    found
}

/// Top-level classes in which no test is seen, and which build tools may yet take for tests: by their name, or by a
/// super class of a library. Sorted.
pub fn suspected_tests(classes: &[Class]) -> Vec<u32> {
    let detector = Detector::new(classes);
    let nests = nests(classes);
    let is_suspect = |index: usize, class: &Class| {
        let traits = class.summary.traits;
        let kinds =
            [ClassTraits::ABSTRACT, ClassTraits::INTERFACE, ClassTraits::ANNOTATION, ClassTraits::ENUM];
        let infos = [ClassTraits::PACKAGE_INFO, ClassTraits::MODULE_INFO];
        let nest = nests.get(&(&*class.module, class.summary.name.as_str()));
        top_level_of(&class.summary.name) == class.summary.name
            && !kinds.into_iter().chain(infos).any(|kind| traits.has(kind))
            && (is_named_like_a_test(&class.summary.name) || detector.has_unknown_super[index])
            && !nest.is_some_and(|nest| nest.iter().any(|&member| detector.is_runnable_test(member)))
    };
    let suspects = classes.iter().enumerate().filter(|(index, class)| is_suspect(*index, class));
    suspects.map(|(index, _)| index as u32).collect()
}

/// Per module and top-level class the indexes of it and of what is nested in it.
fn nests(classes: &[Class]) -> HashMap<(&str, &str), Vec<usize>> {
    let mut nests: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (index, class) in classes.iter().enumerate() {
        nests.entry((&class.module, top_level_of(&class.summary.name))).or_default().push(index);
    }
    nests
}

fn told_class(
    classes: &[Class],
    nests: &HashMap<(&str, &str), Vec<usize>>,
    test: &ToldTest,
) -> Option<TestClass> {
    let nest = test.classes.iter().filter_map(|&index| {
        let class = classes.get(index as usize)?;
        nests.get(&(&*class.module, top_level_of(&class.summary.name)))
    });
    let class = *test.classes.first()? as usize;
    Some(TestClass {
        id: test.id.clone(),
        class,
        nest: nest.flatten().copied().collect(),
        is_disabled: false,
    })
}

/// JUnit's mark on an inner class with tests.
fn is_nested_test(class: &ClassSummary) -> bool {
    class.texts_of(&class.annotations).any(|name| simple(name) == "Nested")
}

/// What annotations make of a class or a member, as bits.
const TEST: u8 = 1;
const RUNNER: u8 = 2;
const DISABLED: u8 = 4;
/// TestNG's mark on a class, JUnit's on a method.
const PLAIN_TEST: u8 = 8;

struct Detector<'c> {
    classes: &'c [Class],
    by_name: HashMap<&'c str, Vec<u32>>,
    /// Per class, what it means as an annotation: its own annotations, and theirs.
    meanings: Vec<u8>,
    /// Derived from JUnit 3's `TestCase`; from a class outside the project; with tests of its own or inherited.
    is_test_case: Vec<bool>,
    has_unknown_super: Vec<bool>,
    has_tests: Vec<bool>,
    /// By the class that they are declared in.
    inner_tests: HashMap<&'c str, Vec<usize>>,
}

impl<'c> Detector<'c> {
    fn new(classes: &'c [Class]) -> Detector<'c> {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (index, class) in classes.iter().enumerate() {
            by_name.entry(&class.summary.name).or_default().push(index as u32);
        }
        let mut detector = Detector {
            classes,
            by_name,
            meanings: vec![0; classes.len()],
            is_test_case: Vec::new(),
            has_unknown_super: Vec::new(),
            has_tests: Vec::new(),
            inner_tests: HashMap::new(),
        };
        for (index, class) in classes.iter().enumerate().filter(|(_, class)| is_nested_test(&class.summary)) {
            let outer = class.summary.outer.map_or("", |outer| class.summary.text(outer));
            detector.inner_tests.entry(outer).or_default().push(index);
        }
        detector.find_meanings();
        let supers = |class: &'c ClassSummary| class.texts_of(&class.supers);
        detector.is_test_case = detector.inherited(|detector, class| {
            let mut external = supers(class).filter(|name| detector.named(name).is_empty());
            external.any(|name| simple(name).ends_with("TestCase"))
        });
        detector.has_unknown_super = detector.inherited(|detector, class| {
            let mut external = supers(class).filter(|name| detector.named(name).is_empty());
            external.any(|name| !name.starts_with("java.") && !KNOWN_SUPERS.contains(&simple(name)))
        });
        let mut declares: Vec<bool> =
            (0..classes.len()).map(|index| detector.declares_tests(index)).collect();
        // An inner class with tests is inherited with the class that it is declared in.
        for outer in detector.inner_tests.keys() {
            detector.named(outer).iter().for_each(|&outer| declares[outer as usize] = true);
        }
        let mut index = 0;
        detector.has_tests = detector.inherited(|_, _| {
            index += 1;
            declares[index - 1]
        });
        detector
    }

    /// A nest with the inner classes with tests that its classes inherit.
    fn with_inherited(&self, nest: &[usize]) -> Vec<usize> {
        let (mut all, mut seen) = (nest.to_vec(), nest.to_vec());
        let mut next = 0;
        while let Some(&index) = seen.get(next) {
            next += 1;
            let class = &self.classes[index].summary;
            let inner = self.inner_tests.get(class.name.as_str()).into_iter().flatten().copied();
            let supers = class.texts_of(&class.supers).flat_map(|name| self.named(name));
            for found in inner.clone().chain(supers.map(|&parent| parent as usize)) {
                if !seen.contains(&found) {
                    seen.push(found);
                }
            }
            let inherited: Vec<usize> = inner.filter(|inner| !all.contains(inner)).collect();
            all.extend(inherited);
        }
        all
    }

    fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// What holds for a class (asked in order) and for everything derived from one for which it holds.
    fn inherited(&self, mut holds: impl FnMut(&Self, &'c ClassSummary) -> bool) -> Vec<bool> {
        let mut found: Vec<bool> = self.classes.iter().map(|class| holds(self, &class.summary)).collect();
        let mut subs: Vec<Vec<u32>> = vec![Vec::new(); found.len()];
        for (index, class) in self.classes.iter().enumerate() {
            for parent in class.summary.texts_of(&class.summary.supers) {
                for &parent in self.named(parent) {
                    subs[parent as usize].push(index as u32);
                }
            }
        }
        let mut open: Vec<u32> = (0..found.len() as u32).filter(|&class| found[class as usize]).collect();
        while let Some(class) = open.pop() {
            for &sub in &subs[class as usize] {
                if !std::mem::replace(&mut found[sub as usize], true) {
                    open.push(sub);
                }
            }
        }
        found
    }

    /// Annotations may carry annotations, to any depth.
    fn find_meanings(&mut self) {
        loop {
            let mut changed = false;
            for index in 0..self.classes.len() {
                let summary = &self.classes[index].summary;
                if summary.annotations.is_empty() || !summary.traits.has(ClassTraits::ANNOTATION) {
                    continue;
                }
                let meaning = self.meaning(summary, &summary.annotations);
                changed |= meaning != self.meanings[index];
                self.meanings[index] = meaning;
            }
            if !changed {
                return;
            }
        }
    }

    /// What some annotations say together.
    fn meaning(&self, class: &ClassSummary, annotations: &[u32]) -> u8 {
        let mut meaning = 0;
        for name in class.texts_of(annotations) {
            let own = self.named(name);
            for &annotation in own {
                meaning |= self.meanings[annotation as usize];
            }
            if own.is_empty() {
                let name = simple(name);
                let bit = |list: &[&str], bit: u8| if list.contains(&name) { bit } else { 0 };
                meaning |= bit(TEST_ANNOTATIONS, TEST) | bit(RUNNER_ANNOTATIONS, RUNNER);
                meaning |= bit(DISABLING_ANNOTATIONS, DISABLED) | bit(&["Test"], PLAIN_TEST);
            }
        }
        meaning
    }

    fn is_disabled(&self, class: &ClassSummary) -> bool {
        self.meaning(class, &class.annotations) & DISABLED != 0
    }

    fn is_runnable_test(&self, index: usize) -> bool {
        let class = &*self.classes[index].summary;
        !class.traits.has(ClassTraits::ABSTRACT) && (self.has_tests[index] || self.may_inherit_tests(index))
    }

    fn declares_tests(&self, index: usize) -> bool {
        let class = &*self.classes[index].summary;
        if class.traits.has(ClassTraits::ANNOTATION) {
            return false;
        }
        let mut members = class.members.iter();
        self.meaning(class, &class.annotations) & (RUNNER | PLAIN_TEST) != 0
            || members.any(|member| {
                self.meaning(class, class.member_lists.ids(member.annotations)) & TEST != 0
                    || self.is_test_case[index] && is_junit3_test(class, member)
                    || is_junit3_suite(class, member)
            })
    }

    /// The tests may be in a library's class: then the name decides, as it does for build tools.
    fn may_inherit_tests(&self, index: usize) -> bool {
        let class = &*self.classes[index].summary;
        is_named_like_a_test(&class.name)
            && (class.traits.has(ClassTraits::OPAQUE) || self.has_unknown_super[index])
    }
}

fn is_named_like_a_test(name: &str) -> bool {
    let name = simple(name);
    name.starts_with("Test")
        || ["Test", "Tests", "TestCase", "IT", "Spec"].iter().any(|end| name.ends_with(end))
}

/// Super types of the JDK, which source may name without a package.
const KNOWN_SUPERS: &[&str] = &[
    "Object",
    "Runnable",
    "Comparable",
    "Cloneable",
    "Serializable",
    "Iterable",
    "AutoCloseable",
    "Thread",
    "Exception",
    "RuntimeException",
    "Enum",
    "Record",
    "Annotation",
    "Comparator",
    "Callable",
    "Iterator",
];

fn is_junit3_test(class: &ClassSummary, member: &MemberSummary) -> bool {
    let traits = member.traits;
    traits.has(MemberTraits::METHOD)
        && traits.has(MemberTraits::PUBLIC)
        && traits.has(MemberTraits::NO_PARAMETERS)
        && !traits.has(MemberTraits::STATIC)
        && class.text(member.name).starts_with("test")
}

fn is_junit3_suite(class: &ClassSummary, member: &MemberSummary) -> bool {
    let traits = member.traits;
    class.text(member.name) == "suite"
        && traits.has(MemberTraits::METHOD)
        && traits.has(MemberTraits::STATIC)
        && traits.has(MemberTraits::PUBLIC)
        && traits.has(MemberTraits::NO_PARAMETERS)
}

fn simple(name: &str) -> &str {
    name.rsplit(['.', '$']).next().unwrap_or(name)
}
