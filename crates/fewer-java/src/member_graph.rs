//! The member level: methods, fields and initialisers as elements. What a test reaches is found by following it
//! with two conditions that a plain graph cannot express (rapid type analysis): a method counts only when it is
//! named and an object of its class can exist. The graph therefore gives each test all it reaches as its roots.
//!
//! Two rules keep it safe where order and initialisers matter: using a class runs its static initialisers, and the
//! order of fields and initialisers is part of the class's own element.

use std::collections::BTreeSet;

use fewer_core::{Digest, DigestBuilder, Domain, ElementId, GraphBuilder, Mapping, TestNode};
use rayon::prelude::*;

use crate::member_world::World;
use crate::naming::Naming;
use crate::program::{Analysed, Options, Program};
use crate::summary::{ClassSummary, ClassTraits, LoadedKind, MemberTraits};
use crate::test_classes::TestClass;

const HEADER: Domain = Domain::new("java.member.header");
const MEMBER: Domain = Domain::new("java.member");
const INPUT: Domain = Domain::new("java.input");

pub(crate) fn member_graph(program: &Program, options: Options, tests: Vec<TestClass>) -> Analysed {
    let naming = Naming::new(program);
    let world = World::new(program, &naming, options);
    let mut graph = GraphBuilder::new();
    for class in &program.classes {
        graph.element(&class.summary.name, header_content(&class.summary));
    }
    for class in &program.classes {
        let summary = &class.summary;
        for member in &summary.members {
            let key = summary.text(member.key);
            let name = format!("{}.{}", summary.name, key.trim_start_matches('#'));
            let content =
                DigestBuilder::new(MEMBER).text(&summary.name).text(key).digest(member.content).finish();
            graph.element(&name, content);
        }
    }
    for input in &program.inputs {
        graph.element(&input.name, DigestBuilder::new(INPUT).text(&input.name).digest(input.digest).finish());
    }
    let nodes: Vec<TestNode> = tests.par_iter().map(|test| test_node(program, &world, test)).collect();
    for node in nodes {
        graph.test(node);
    }
    Analysed { graph: graph.build(), notes: notes(program, &naming) }
}

/// The declaration, and the order in which its fields and initialisers take effect.
fn header_content(class: &ClassSummary) -> Digest {
    let mut content = DigestBuilder::new(HEADER);
    content.text(&class.name).digest(class.header);
    let ordered = MemberTraits::FIELD.with(MemberTraits::INITIALISER);
    if class.members.iter().any(|member| member.traits.has(MemberTraits::INITIALISER)) {
        for member in class.members.iter().filter(|member| member.traits.has(ordered)) {
            content.text(class.text(member.key));
        }
    }
    content.finish()
}

fn notes(program: &Program, naming: &Naming<'_>) -> Vec<String> {
    let mut notes: BTreeSet<String> = BTreeSet::new();
    for class in &program.classes {
        let summary = &class.summary;
        notes.extend(summary.notes.iter().map(|note| format!("{}: {note}", summary.name)));
        let computed = summary
            .unknowns
            .iter()
            .filter(|unknown| unknown.kind == LoadedKind::Class && !naming.is_constant(unknown));
        notes.extend(computed.map(|unknown| {
            format!("{} calls {} with a name that is not a constant", summary.name, unknown.call)
        }));
    }
    notes.into_iter().collect()
}

fn test_node(program: &Program, world: &World, test: &TestClass) -> TestNode {
    let class = &program.classes[test.class];
    let mut reach = Reach::new(world);
    for &nested in &test.nest {
        reach.whole_class(nested as u32);
    }
    for (index, other) in program.classes.iter().enumerate() {
        if other.module == class.module && other.summary.traits.has(ClassTraits::MODULE_INFO) {
            reach.live(index as u32);
        }
    }
    for &input in &world.module_inputs {
        let wanted = program.inputs[input as usize].module.as_deref();
        if wanted.is_none_or(|wanted| wanted == &*class.module) {
            reach.inputs.insert(input);
        }
    }
    reach.follow();
    TestNode {
        id: test.id.clone(),
        roots: reach.elements(),
        mapping: Mapping::Mapped,
        disabled: test.is_disabled,
    }
}

/// What one test reaches.
struct Reach<'w> {
    world: &'w World,
    live: Vec<bool>,
    created: Vec<bool>,
    reached: Vec<bool>,
    /// Names used of anything, and members that a use can mean.
    used_names: Vec<bool>,
    targeted: Vec<bool>,
    inputs: BTreeSet<u32>,
    /// Members are looked at without being named: every member of a class in use counts.
    sees_all_members: bool,
    sees_all_classes: bool,
    open_members: Vec<u32>,
    /// Classes whose members are to be looked at again.
    open_classes: Vec<u32>,
}

impl<'w> Reach<'w> {
    fn new(world: &'w World) -> Reach<'w> {
        Reach {
            world,
            live: vec![false; world.classes.len()],
            created: vec![false; world.classes.len()],
            reached: vec![false; world.members.len()],
            used_names: vec![false; world.by_name.len()],
            targeted: vec![false; world.members.len()],
            inputs: BTreeSet::new(),
            sees_all_members: false,
            sees_all_classes: false,
            open_members: Vec::new(),
            open_classes: Vec::new(),
        }
    }

    fn whole_class(&mut self, class: u32) {
        self.create(class);
        for member in self.world.classes[class as usize].members.clone() {
            self.reach(member);
        }
    }

    fn live(&mut self, class: u32) {
        if std::mem::replace(&mut self.live[class as usize], true) {
            return;
        }
        self.open_classes.push(class);
    }

    fn create(&mut self, class: u32) {
        if std::mem::replace(&mut self.created[class as usize], true) {
            return;
        }
        self.live[class as usize] = true;
        self.open_classes.push(class);
    }

    fn reach(&mut self, member: u32) {
        if !std::mem::replace(&mut self.reached[member as usize], true) {
            self.open_members.push(member);
        }
    }

    fn follow(&mut self) {
        loop {
            if let Some(class) = self.open_classes.pop() {
                self.follow_class(class);
            } else if let Some(member) = self.open_members.pop() {
                self.follow_member(member);
            } else {
                return;
            }
        }
    }

    fn follow_class(&mut self, index: u32) {
        let class = &self.world.classes[index as usize];
        for &reference in &class.references {
            self.live(reference);
        }
        if class.is_created_when_live {
            self.create(index);
        }
        if self.created[index as usize] {
            for &parent in &class.supers {
                self.create(parent);
            }
        }
        for &provider in &class.creates {
            self.create(provider);
        }
        self.inputs.extend(&class.inputs);
        for member in class.members.clone() {
            if class.is_opaque || self.sees_all_members || self.is_wanted(member) {
                self.reach(member);
            }
        }
    }

    fn is_wanted(&self, index: u32) -> bool {
        let member = &self.world.members[index as usize];
        let exists = member.is_static || self.created[member.class as usize];
        let is_used =
            member.is_always || self.targeted[index as usize] || self.used_names[member.name as usize];
        exists && is_used && self.live[member.class as usize]
    }

    fn follow_member(&mut self, index: u32) {
        let world = self.world;
        let member = &world.members[index as usize];
        self.live(member.class);
        for &reference in &member.references {
            self.live(reference);
        }
        for &class in &member.creates {
            self.create(class);
        }
        for &target in &member.targets {
            if !std::mem::replace(&mut self.targeted[target as usize], true) && self.is_wanted(target) {
                self.reach(target);
            }
        }
        for &name in &member.names {
            if !std::mem::replace(&mut self.used_names[name as usize], true) {
                for &candidate in &world.by_name[name as usize] {
                    if self.is_wanted(candidate) {
                        self.reach(candidate);
                    }
                }
            }
        }
        if member.is_reflective && !std::mem::replace(&mut self.sees_all_members, true) {
            let live = (0..self.live.len() as u32).filter(|&class| self.live[class as usize]);
            self.open_classes.extend(live.collect::<Vec<u32>>());
        }
        if member.loads_any_class && !std::mem::replace(&mut self.sees_all_classes, true) {
            for class in 0..world.classes.len() as u32 {
                self.create(class);
            }
        }
        if member.loads_any_resource {
            self.inputs.extend(&world.hidden_inputs);
        }
    }

    fn elements(&self) -> Vec<ElementId> {
        let classes = self.live.len() as u32;
        let members = self.reached.len() as u32;
        let marked = |marks: &'_ [bool], offset: u32| -> Vec<ElementId> {
            let marked = marks.iter().enumerate().filter(|(_, mark)| **mark);
            marked.map(|(index, _)| ElementId(index as u32 + offset)).collect()
        };
        let mut elements = marked(&self.live, 0);
        elements.extend(marked(&self.reached, classes));
        elements.extend(self.inputs.iter().map(|&input| ElementId(classes + members + input)));
        elements
    }
}
