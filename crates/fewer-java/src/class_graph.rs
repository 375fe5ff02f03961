//! The class level: an element per class and per input, a reference wherever one names, inherits from or may
//! load the other, and the tests. Reaching a change from a test over these references is the same as FEST's
//! search from the change: through subclasses and everything that refers to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fewer_core::{Digest, DigestBuilder, Domain, ElementId, GraphBuilder, Mapping, TestNode};

use crate::naming::{Named, Naming, ResourceNames, ResourceUsers};
use crate::program::{Analysed, Dependencies, InputKind, Options, Program, Reflection};
use crate::summary::{ClassSummary, ClassTraits, LoadedKind, LoadedName, Unknown, package_of};
use crate::test_classes::TestClass;

const CLASS: Domain = Domain::new("java.class");
const INPUT: Domain = Domain::new("java.input");
const GROUP: Domain = Domain::new("java.group");

pub(crate) fn class_graph(program: &Program, options: Options, tests: Vec<TestClass>) -> Analysed {
    let mut builder = Builder::new(program, options);
    for index in 0..program.classes.len() as u32 {
        builder.connect(index);
    }
    builder.connect_inputs();
    builder.add_tests(tests);
    builder.finish()
}

/// The name of the element that stands for the inputs of a module's tests.
pub(crate) fn inputs_of(module: &str) -> String {
    format!("inputs of {module}")
}

pub(crate) fn class_content(class: &ClassSummary) -> Digest {
    DigestBuilder::new(CLASS).text(&class.name).digest(class.content).finish()
}

struct Builder<'p> {
    program: &'p Program,
    options: Options,
    naming: Naming<'p>,
    graph: GraphBuilder,
    /// Packages, prefixes and "everything", by name.
    groups: HashMap<String, ElementId>,
    /// What every test of a module depends on.
    modules: BTreeMap<&'p str, ElementId>,
    package_infos: HashMap<(&'p str, &'p str), u32>,
    notes: BTreeSet<String>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, options: Options) -> Builder<'p> {
        let mut graph = GraphBuilder::with_capacity(program.classes.len(), program.classes.len() * 16);
        let mut package_infos = HashMap::new();
        for (index, class) in program.classes.iter().enumerate() {
            graph.element(&class.summary.name, class_content(&class.summary));
            if class.summary.traits.has(ClassTraits::PACKAGE_INFO) {
                package_infos.insert((&*class.module, package_of(&class.summary.name)), index as u32);
            }
        }
        let mut modules = BTreeMap::new();
        for class in &program.classes {
            modules.entry(&*class.module).or_insert_with(|| group(&mut graph, &inputs_of(&class.module)));
        }
        Builder {
            program,
            options,
            naming: Naming::new(program),
            graph,
            groups: HashMap::new(),
            modules,
            package_infos,
            notes: BTreeSet::new(),
        }
    }

    fn is_full(&self) -> bool {
        match self.options.dependencies {
            Dependencies::Full => true,
            Dependencies::Firewall => false,
        }
    }

    fn connect(&mut self, index: u32) {
        let program = self.program;
        let class = &program.classes[index as usize];
        let summary = &*class.summary;
        let from = ElementId(index);
        for id in summary.references.iter().chain(&summary.supers) {
            for &target in self.naming.classes(summary.text(*id)) {
                self.graph.reference(from, ElementId(target));
            }
        }
        if let Some(outer) = summary.outer {
            for &outer in self.naming.classes(summary.text(outer)) {
                self.graph.reference(from, ElementId(outer));
                self.graph.reference(ElementId(outer), from);
            }
        }
        let package = package_of(&summary.name);
        if let Some(&info) = self.package_infos.get(&(&*class.module, package)) {
            self.graph.reference(from, ElementId(info));
        }
        if summary.traits.has(ClassTraits::MODULE_INFO) {
            self.graph.reference(self.modules[&*class.module], from);
        }
        self.connect_generated(from, summary);
        self.notes.extend(summary.notes.iter().map(|note| format!("{}: {note}", summary.name)));
        if self.is_full() {
            self.connect_hidden(from, summary);
        }
    }

    /// What a generator makes, it makes from the classes around it.
    fn connect_generated(&mut self, from: ElementId, summary: &'p ClassSummary) {
        for class in self.naming.generated(summary) {
            let package = package_of(class);
            let group = self.package_group(package);
            self.graph.reference(from, group);
            self.notes.insert(format!(
                "{} uses {class}, which no source file declares: it counts as made from all of {package}",
                summary.name
            ));
        }
    }

    fn connect_hidden(&mut self, from: ElementId, summary: &'p ClassSummary) {
        for string in summary.texts_of(&summary.strings) {
            match self.naming.named(string) {
                Some(Named::Classes(classes)) => {
                    for &class in classes {
                        self.graph.reference(from, ElementId(class));
                    }
                }
                Some(Named::Package(package)) => {
                    let package = package.to_string();
                    let group = self.package_group(&package);
                    self.graph.reference(from, group);
                }
                None => {}
            }
        }
        for &(service, provider) in &summary.provides {
            let (service, provider) = (summary.text(service), summary.text(provider));
            for &service in self.naming.classes(service) {
                for &provider in self.naming.classes(provider) {
                    self.graph.reference(ElementId(service), ElementId(provider));
                }
            }
        }
        for unknown in &summary.unknowns {
            self.connect_unknown(from, summary, unknown);
        }
    }

    fn connect_unknown(&mut self, from: ElementId, summary: &ClassSummary, unknown: &Unknown) {
        if self.naming.is_constant(unknown) {
            return;
        }
        let prefix = match &unknown.name {
            LoadedName::Prefix(prefix) => prefix.as_str(),
            LoadedName::Field { .. } | LoadedName::Computed => "",
        };
        let group = match unknown.kind {
            LoadedKind::Class => {
                if prefix.trim_start_matches(['[', 'L']).is_empty() {
                    if self.options.reflection == Reflection::Named {
                        return;
                    }
                    self.notes.insert(format!(
                        "{} calls {} with a name that is computed: it may load any class",
                        summary.name, unknown.call
                    ));
                    self.group("any class", |naming| naming.classes_with_prefix(""))
                } else {
                    let name = format!("classes {prefix}*");
                    self.group(&name, |naming| naming.classes_with_prefix(prefix))
                }
            }
            LoadedKind::Resource => self.group("any resource", |_| Vec::new()),
            // A class counts with all its members.
            LoadedKind::Member => return,
        };
        self.graph.reference(from, group);
    }

    fn package_group(&mut self, package: &str) -> ElementId {
        self.group(&format!("package {package}"), |naming| naming.classes_in(package))
    }

    fn group(&mut self, name: &str, members: impl Fn(&Naming<'_>) -> Vec<u32>) -> ElementId {
        if let Some(&known) = self.groups.get(name) {
            return known;
        }
        let element = group(&mut self.graph, name);
        for member in members(&self.naming) {
            self.graph.reference(element, ElementId(member));
        }
        self.groups.insert(name.to_string(), element);
        element
    }

    fn connect_inputs(&mut self) {
        let program = self.program;
        let resources = ResourceNames::new(program);
        let any_resource = self.groups.get("any resource").copied();
        for input in &program.inputs {
            let is_hidden = match input.kind {
                InputKind::Resource | InputKind::Service { .. } => true,
                InputKind::Setting => false,
            };
            if is_hidden && !self.is_full() {
                continue;
            }
            let content = DigestBuilder::new(INPUT).text(&input.name).digest(input.digest).finish();
            let element = self.graph.element(&input.name, content);
            if let (true, Some(any)) = (is_hidden, any_resource) {
                self.graph.reference(any, element);
            }
            let users = match &input.kind {
                InputKind::Resource => resources.users(input),
                InputKind::Service { service, providers } => {
                    self.connect_service(element, service, providers)
                }
                InputKind::Setting => ResourceUsers::Module,
            };
            match users {
                ResourceUsers::Classes(classes) => {
                    for class in classes {
                        self.graph.reference(ElementId(class), element);
                    }
                }
                ResourceUsers::Module => {
                    for (module, inputs) in &self.modules {
                        if input.module.as_deref().is_none_or(|wanted| wanted == *module) {
                            self.graph.reference(*inputs, element);
                        }
                    }
                }
            }
        }
    }

    /// Who uses a service: whoever names its type; everyone, if the type is not the project's.
    fn connect_service(&mut self, element: ElementId, service: &str, providers: &[String]) -> ResourceUsers {
        for provider in providers {
            for &provider in self.naming.classes(provider) {
                self.graph.reference(element, ElementId(provider));
            }
        }
        match self.naming.classes(service) {
            [] => ResourceUsers::Module,
            classes => ResourceUsers::Classes(classes.to_vec()),
        }
    }

    fn add_tests(&mut self, tests: Vec<TestClass>) {
        for test in tests {
            let class = &self.program.classes[test.class];
            let mut roots: Vec<ElementId> = test.nest.iter().map(|&index| ElementId(index as u32)).collect();
            roots.push(self.modules[&*class.module]);
            self.graph.test(TestNode {
                id: test.id,
                roots,
                mapping: Mapping::Mapped,
                disabled: test.is_disabled,
            });
        }
    }

    fn finish(self) -> Analysed {
        Analysed { graph: self.graph.build(), notes: self.notes.into_iter().collect() }
    }
}

fn group(graph: &mut GraphBuilder, name: &str) -> ElementId {
    graph.element(name, Digest::of(GROUP, name.as_bytes()))
}
