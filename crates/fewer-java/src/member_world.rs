//! What the member level knows of a program before it follows any test: which members a use can mean, which
//! classes inherit from which, and what is reached whenever a class is used. Following tests is done elsewhere.

use std::collections::{HashMap, HashSet};

use crate::naming::{Named, Naming, ResourceNames, ResourceUsers};
use crate::program::{Dependencies, InputKind, Options, Program, Reflection};
use crate::summary::{
    ClassSummary, ClassTraits, LoadedKind, LoadedName, MemberSummary, MemberTraits, Unknown, Use, package_of,
};

/// Annotations that make nobody call a member.
const BENIGN: &[&str] = &[
    "Override",
    "Deprecated",
    "SuppressWarnings",
    "SafeVarargs",
    "FunctionalInterface",
    "Nullable",
    "NonNull",
    "Nonnull",
    "NotNull",
    "CheckForNull",
    "VisibleForTesting",
    "SuppressFBWarnings",
    "Since",
    "API",
];

/// Methods that the library calls on any object.
const CALLED_BY_LIBRARY: &[&str] = &[
    "toString",
    "equals",
    "hashCode",
    "clone",
    "finalize",
    "compareTo",
    "compare",
    "readObject",
    "writeObject",
    "readResolve",
    "writeReplace",
    "readObjectNoData",
    "readExternal",
    "writeExternal",
    "serialVersionUID",
    "values",
    "valueOf",
];

/// A member of the program.
pub(crate) struct Member {
    pub class: u32,
    /// Reached whenever its class is in use, not only when it is named.
    pub is_always: bool,
    pub is_static: bool,
    pub name: u32,
    /// Classes it names, which then are in use.
    pub references: Vec<u32>,
    /// Classes of which it can make objects.
    pub creates: Vec<u32>,
    /// Members it can call or read.
    pub targets: Vec<u32>,
    /// Names of members that it uses of anything.
    pub names: Vec<u32>,
    /// It looks at members without naming them.
    pub is_reflective: bool,
    pub loads_any_class: bool,
    pub loads_any_resource: bool,
}

/// A class of the program.
pub(crate) struct WorldClass {
    pub members: std::ops::Range<u32>,
    /// Used together with it: super types, what its declaration names, its package's annotations.
    pub references: Vec<u32>,
    pub supers: Vec<u32>,
    /// Objects of it exist as soon as it is used: enums, interfaces (lambdas), annotations, unreadable classes.
    pub is_created_when_live: bool,
    pub is_opaque: bool,
    /// Created together with it, as services are.
    pub creates: Vec<u32>,
    pub inputs: Vec<u32>,
}

/// Everything that does not depend on the test.
pub(crate) struct World {
    pub classes: Vec<WorldClass>,
    pub members: Vec<Member>,
    /// Per name, the members that only a use reaches.
    pub by_name: Vec<Vec<u32>>,
    /// Inputs that loading any resource can reach.
    pub hidden_inputs: Vec<u32>,
    /// Inputs that nobody names: every test of these modules depends on them.
    pub module_inputs: Vec<u32>,
}

impl World {
    pub fn new(program: &Program, naming: &Naming<'_>, options: Options) -> World {
        WorldBuilder::new(program, naming, options).build()
    }
}

struct WorldBuilder<'p> {
    program: &'p Program,
    naming: &'p Naming<'p>,
    options: Options,
    names: HashMap<&'p str, u32>,
    supers: Vec<Vec<u32>>,
    subs: Vec<Vec<u32>>,
    outer: Vec<Vec<u32>>,
    first_member: Vec<u32>,
    /// Per name, all members of that name.
    named: Vec<Vec<u32>>,
    families: HashMap<u32, HashSet<u32>>,
    ancestors: HashMap<u32, HashSet<u32>>,
    targets: HashMap<(u32, u32), Vec<u32>>,
    own_targets: HashMap<(u32, u32), Vec<u32>>,
}

impl<'p> WorldBuilder<'p> {
    fn new(program: &'p Program, naming: &'p Naming<'p>, options: Options) -> WorldBuilder<'p> {
        let count = program.classes.len();
        let mut builder = WorldBuilder {
            program,
            naming,
            options,
            names: HashMap::new(),
            supers: vec![Vec::new(); count],
            subs: vec![Vec::new(); count],
            outer: vec![Vec::new(); count],
            first_member: Vec::with_capacity(count + 1),
            named: Vec::new(),
            families: HashMap::new(),
            ancestors: HashMap::new(),
            targets: HashMap::new(),
            own_targets: HashMap::new(),
        };
        let mut next = 0u32;
        for (index, class) in program.classes.iter().enumerate() {
            let summary: &'p ClassSummary = &class.summary;
            for parent in summary.texts_of(&summary.supers) {
                for &parent in naming.classes(parent).iter().filter(|&&parent| parent != index as u32) {
                    builder.supers[index].push(parent);
                    builder.subs[parent as usize].push(index as u32);
                }
            }
            if let Some(outer) = summary.outer {
                builder.outer[index] = naming.classes(summary.text(outer)).to_vec();
            }
            builder.first_member.push(next);
            for member in &summary.members {
                let name = builder.name(summary.text(member.name));
                builder.named[name as usize].push(next);
                next += 1;
            }
        }
        builder.first_member.push(next);
        builder
    }

    fn name(&mut self, text: &'p str) -> u32 {
        let next = self.named.len() as u32;
        let id = *self.names.entry(text).or_insert(next);
        if id == next {
            self.named.push(Vec::new());
        }
        id
    }

    fn class_of(&self, member: u32) -> u32 {
        self.first_member.partition_point(|&first| first <= member) as u32 - 1
    }

    fn summary_of(&self, member: u32) -> &'p MemberSummary {
        let class = self.class_of(member);
        let index = member - self.first_member[class as usize];
        &self.program.classes[class as usize].summary.members[index as usize]
    }

    fn build(mut self) -> World {
        let external = self.with_external_supers();
        let mut members = Vec::new();
        let mut classes = Vec::new();
        for index in 0..self.program.classes.len() as u32 {
            let summary: &'p ClassSummary = &self.program.classes[index as usize].summary;
            for member in &summary.members {
                let built = self.member(index, summary, member, external[index as usize]);
                members.push(built);
            }
            classes.push(self.class(index, summary));
        }
        let mut world = World {
            by_name: vec![Vec::new(); self.named.len()],
            members,
            classes,
            hidden_inputs: Vec::new(),
            module_inputs: Vec::new(),
        };
        for (index, member) in world.members.iter().enumerate().filter(|(_, member)| !member.is_always) {
            world.by_name[member.name as usize].push(index as u32);
        }
        self.connect_inputs(&mut world);
        world
    }

    /// Classes that a library may call through one of its own types.
    fn with_external_supers(&self) -> Vec<bool> {
        let mut external: Vec<bool> = self
            .program
            .classes
            .iter()
            .map(|class| {
                let summary = &class.summary;
                summary.texts_of(&summary.supers).any(|parent| {
                    self.naming.classes(parent).is_empty()
                        && !matches!(
                            parent,
                            "java.lang.Object" | "Object" | "java.lang.Enum" | "java.lang.Record"
                        )
                })
            })
            .collect();
        let mut open: Vec<u32> =
            (0..external.len() as u32).filter(|&class| external[class as usize]).collect();
        while let Some(class) = open.pop() {
            for &sub in &self.subs[class as usize] {
                if !std::mem::replace(&mut external[sub as usize], true) {
                    open.push(sub);
                }
            }
        }
        external
    }

    fn class(&mut self, index: u32, summary: &'p ClassSummary) -> WorldClass {
        let mut references: Vec<u32> = self.supers[index as usize].clone();
        references.extend(&self.outer[index as usize]);
        for name in summary.texts_of(&summary.header_references) {
            references.extend(self.naming.classes(name));
        }
        let package = package_of(&summary.name);
        let info = if package.is_empty() { "package-info".into() } else { format!("{package}.package-info") };
        references.extend(self.naming.classes(&info));
        let is_opaque = summary.traits.has(ClassTraits::OPAQUE);
        let lively = ClassTraits::ENUM.with(ClassTraits::INTERFACE).with(ClassTraits::ANNOTATION);
        let is_annotated = summary.texts_of(&summary.annotations).any(|name| !is_benign(name));
        // What annotations name, frameworks make: runners, extensions, the classes of a suite.
        let mut creates = Vec::new();
        if is_annotated {
            creates.extend(&references);
            for string in summary.texts_of(&summary.strings).filter(|_| self.is_full()) {
                creates.extend(self.named_by(string));
            }
        }
        for class in self.naming.generated(summary) {
            creates.extend(self.naming.classes_in(package_of(class)));
        }
        references.sort_unstable();
        references.dedup();
        WorldClass {
            members: self.first_member[index as usize]..self.first_member[index as usize + 1],
            references,
            supers: self.supers[index as usize].clone(),
            is_created_when_live: is_opaque || is_annotated || summary.traits.has(lively),
            is_opaque,
            creates,
            inputs: Vec::new(),
        }
    }

    fn member(
        &mut self,
        class: u32,
        summary: &'p ClassSummary,
        member: &'p MemberSummary,
        has_external_super: bool,
    ) -> Member {
        let traits = member.traits;
        let name = summary.text(member.name);
        let is_called_from_outside = has_external_super
            && traits.has(MemberTraits::METHOD)
            && !traits.has(MemberTraits::PRIVATE.with(MemberTraits::STATIC));
        let is_always = is_called_from_outside
            || traits.has(MemberTraits::INITIALISER.with(MemberTraits::CONSTRUCTOR))
            || CALLED_BY_LIBRARY.contains(&name)
            || summary.texts_in(member.annotations).any(|annotation| !is_benign(annotation));
        let mut built = Member {
            class,
            is_always,
            is_static: traits.has(MemberTraits::STATIC),
            name: self.name(name),
            references: Vec::new(),
            creates: Vec::new(),
            targets: Vec::new(),
            names: Vec::new(),
            is_reflective: false,
            loads_any_class: false,
            loads_any_resource: false,
        };
        self.connect_names(class, summary, member, &mut built);
        self.connect_hidden(summary, member, &mut built);
        for list in [&mut built.references, &mut built.creates, &mut built.targets, &mut built.names] {
            list.sort_unstable();
            list.dedup();
        }
        built
    }

    fn connect_names(
        &mut self,
        class: u32,
        summary: &'p ClassSummary,
        member: &'p MemberSummary,
        built: &mut Member,
    ) {
        for name in summary.texts_in(member.references) {
            built.references.extend(self.naming.classes(name));
        }
        for name in summary.texts_in(member.creates) {
            built.creates.extend(self.naming.classes(name));
        }
        // A local or anonymous class may extend whatever is named here.
        let has_body_class = member.traits.has(MemberTraits::HAS_BODY_CLASS);
        if has_body_class {
            built.creates.extend(&built.references);
        }
        for &used in summary.member_lists.uses(member.uses) {
            let (owner, name) = match used {
                Use::On { owner, name } => (Some(summary.text(owner)), summary.text(name)),
                Use::Own { name } | Use::Any { name } => (None, summary.text(name)),
            };
            let name = self.name(name);
            match used {
                Use::On { .. } => {
                    for &owner in owner.map(|owner| self.naming.classes(owner)).unwrap_or_default() {
                        let targets = self.targets_of(owner, name);
                        built.targets.extend(targets);
                    }
                }
                Use::Own { .. } if !has_body_class => {
                    let targets = self.own_targets_of(class, name);
                    built.targets.extend(targets);
                }
                Use::Own { .. } | Use::Any { .. } => built.names.push(name),
            }
        }
    }

    fn is_full(&self) -> bool {
        match self.options.dependencies {
            Dependencies::Full => true,
            Dependencies::Firewall => false,
        }
    }

    fn connect_hidden(&mut self, summary: &'p ClassSummary, member: &'p MemberSummary, built: &mut Member) {
        for string in summary.texts_in(member.strings) {
            // A string may name a member to reflection: `getMethod("size")`, `@MethodSource("p.C#sizes")`.
            let name = string.rsplit(['#', '.']).next().unwrap_or(string);
            let name = self.name(name);
            built.names.push(name);
            if self.is_full() {
                let named = self.named_by(string);
                built.creates.extend(named);
            }
        }
        for unknown in &member.unknowns {
            let counts = self.is_full() || unknown.kind == LoadedKind::Member;
            if counts && !self.naming.is_constant(unknown) {
                self.connect_unknown(unknown, built);
            }
        }
    }

    fn named_by(&self, string: &str) -> Vec<u32> {
        match self.naming.named(string) {
            Some(Named::Classes(classes)) => classes.to_vec(),
            Some(Named::Package(package)) => self.naming.classes_in(package),
            None => Vec::new(),
        }
    }

    fn connect_unknown(&self, unknown: &Unknown, built: &mut Member) {
        let prefix = match &unknown.name {
            LoadedName::Prefix(prefix) => prefix.trim_start_matches(['[', 'L']),
            LoadedName::Field { .. } | LoadedName::Computed => "",
        };
        match unknown.kind {
            LoadedKind::Resource => built.loads_any_resource = true,
            LoadedKind::Member => built.is_reflective = true,
            LoadedKind::Class if !prefix.is_empty() => {
                built.creates.extend(self.naming.classes_with_prefix(prefix));
            }
            LoadedKind::Class => built.loads_any_class |= self.options.reflection == Reflection::Everything,
        }
    }

    /// Members that `X.m` can mean: those X has or inherits, and what its subclasses make of them.
    fn targets_of(&mut self, owner: u32, name: u32) -> Vec<u32> {
        if let Some(known) = self.targets.get(&(owner, name)) {
            return known.clone();
        }
        let (ancestors, family) = (self.ancestors_of(owner), self.family_of(owner));
        let found: Vec<u32> = self.named[name as usize]
            .iter()
            .copied()
            .filter(|&member| {
                let class = self.class_of(member);
                let is_static = self.summary_of(member).traits.has(MemberTraits::STATIC);
                ancestors.contains(&class) || (family.contains(&class) && !is_static)
            })
            .collect();
        self.targets.insert((owner, name), found.clone());
        found
    }

    /// Members that `m` without a receiver can mean.
    fn own_targets_of(&mut self, class: u32, name: u32) -> Vec<u32> {
        if self.named[name as usize].is_empty() {
            return Vec::new();
        }
        if let Some(known) = self.own_targets.get(&(class, name)) {
            return known.clone();
        }
        let mut enclosing = vec![class];
        let mut next = 0;
        while let Some(&class) = enclosing.get(next) {
            next += 1;
            for &outer in &self.outer[class as usize] {
                if !enclosing.contains(&outer) {
                    enclosing.push(outer);
                }
            }
        }
        let mut found: Vec<u32> = Vec::new();
        for class in enclosing {
            let family = self.family_of(class);
            let members = self.named[name as usize].iter();
            found.extend(members.filter(|&&member| family.contains(&self.class_of(member))));
        }
        found.sort_unstable();
        found.dedup();
        self.own_targets.insert((class, name), found.clone());
        found
    }

    fn ancestors_of(&mut self, class: u32) -> HashSet<u32> {
        if let Some(known) = self.ancestors.get(&class) {
            return known.clone();
        }
        let found = closure([class], &self.supers);
        self.ancestors.insert(class, found.clone());
        found
    }

    /// Super types of every subclass, the class itself included.
    fn family_of(&mut self, class: u32) -> HashSet<u32> {
        if let Some(known) = self.families.get(&class) {
            return known.clone();
        }
        let found = closure(closure([class], &self.subs), &self.supers);
        self.families.insert(class, found.clone());
        found
    }

    fn connect_inputs(&self, world: &mut World) {
        let resources = ResourceNames::new(self.program);
        for class in &self.program.classes {
            let summary = &class.summary;
            for &(service, provider) in &summary.provides {
                for &service in self.naming.classes(summary.text(service)) {
                    let providers = self.naming.classes(summary.text(provider));
                    world.classes[service as usize].creates.extend(providers);
                }
            }
        }
        for (index, input) in self.program.inputs.iter().enumerate() {
            let index = index as u32;
            let users = match &input.kind {
                InputKind::Setting => ResourceUsers::Module,
                InputKind::Resource | InputKind::Service { .. } if !self.is_full() => continue,
                InputKind::Resource => resources.users(input),
                InputKind::Service { service, .. } => match self.naming.classes(service) {
                    [] => ResourceUsers::Module,
                    classes => ResourceUsers::Classes(classes.to_vec()),
                },
            };
            if input.kind != InputKind::Setting {
                world.hidden_inputs.push(index);
            }
            match users {
                ResourceUsers::Module => world.module_inputs.push(index),
                ResourceUsers::Classes(classes) => {
                    for class in classes {
                        let class = &mut world.classes[class as usize];
                        class.inputs.push(index);
                        class.creates.extend(self.providers(&input.kind));
                    }
                }
            }
        }
    }

    pub fn providers(&self, kind: &InputKind) -> Vec<u32> {
        match kind {
            InputKind::Service { providers, .. } => {
                providers.iter().flat_map(|provider| self.naming.classes(provider)).copied().collect()
            }
            InputKind::Resource | InputKind::Setting => Vec::new(),
        }
    }
}

fn closure(start: impl IntoIterator<Item = u32>, edges: &[Vec<u32>]) -> HashSet<u32> {
    let mut open: Vec<u32> = start.into_iter().collect();
    let mut seen: HashSet<u32> = open.iter().copied().collect();
    while let Some(class) = open.pop() {
        for &next in &edges[class as usize] {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

fn is_benign(annotation: &str) -> bool {
    BENIGN.contains(&annotation.rsplit(['.', '$']).next().unwrap_or(annotation))
}
