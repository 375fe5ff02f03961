//! Code that runs before `main`: a test depends on every initialiser that can write data the test can read, and
//! on every initialiser whose effect on the process is not known to be local.

use crate::effects::{Effect, effect_of, is_registration};
use crate::image_set::ImageSet;
use crate::link::{Linked, Node};
use crate::summary::Traits;
use crate::symbol_names::Part;

/// What initialisers mean for the tests of each program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Initialisers {
    /// Every initialiser, with the programs it runs in.
    pub all: Vec<(u32, ImageSet)>,
    /// Those that every test of their programs depends on.
    pub ambient: Vec<(u32, ImageSet)>,
    /// Per ambient initialiser what makes it so: a function whose effect is not known to be local.
    pub causes: Vec<String>,
}

/// Finds the initialisers and adds a reference from all data that one may write to that initialiser.
pub fn connect(linked: &mut Linked<'_>) -> Initialisers {
    let mut found = Initialisers::default();
    let mut walk = Walk::new(linked);
    let mut writers: Vec<(u32, u32)> = Vec::new();
    for node in 0..linked.element_count() as u32 {
        let Some(traits) = linked.traits(node).filter(|traits| traits.has(Traits::INITIALISER)) else {
            continue;
        };
        let images = linked.images[node as usize].clone();
        let reach = walk.from(linked, node);
        let is_opaque = traits.has(Traits::OPAQUE).then(|| "code that cannot be read".to_string());
        writers.extend(reach.data.iter().map(|&data| (data, node)));
        if let Some(cause) = reach.process_wide.or(is_opaque) {
            found.ambient.push((node, images.clone()));
            found.causes.push(cause);
        }
        found.all.push((node, images));
    }
    linked.extra.extend(writers);
    found
}

/// What one initialiser reaches.
struct Reach {
    data: Vec<u32>,
    /// The first function met whose effect may be process-wide.
    process_wide: Option<String>,
}

struct Walk {
    /// The initialiser that last visited each node, so that nothing needs clearing in between.
    visited_by: Vec<u32>,
    /// References of made nodes, sorted.
    extra: Vec<(u32, u32)>,
    /// Per node whether it only complains, once it is known.
    complains: Vec<Option<bool>>,
    /// Per node whether it is GoogleTest's own or registers something, and its effect, once they are known.
    borders: Vec<Option<bool>>,
    effects: Vec<Option<Effect>>,
    /// Per node whether it is a variable of GoogleTest's macros, once it is known.
    registrations: Vec<Option<bool>>,
}

impl Walk {
    fn new(linked: &Linked<'_>) -> Walk {
        let mut extra = linked.extra.clone();
        extra.sort_unstable();
        let count = linked.node_count();
        Walk {
            visited_by: vec![u32::MAX; count],
            extra,
            complains: vec![None; count],
            borders: vec![None; count],
            effects: vec![None; count],
            registrations: vec![None; count],
        }
    }

    /// The references of a made node; elements have none here.
    fn made_references(&self, node: u32) -> &[(u32, u32)] {
        if self.extra.first().is_none_or(|(first, _)| node < *first) {
            return &[];
        }
        let start = self.extra.partition_point(|(from, _)| *from < node);
        let count = self.extra[start..].partition_point(|(from, _)| *from == node);
        &self.extra[start..start + count]
    }

    fn from(&mut self, linked: &Linked<'_>, initialiser: u32) -> Reach {
        let within_framework = is_in_framework(linked, initialiser);
        let mut reach = Reach { data: Vec::new(), process_wide: None };
        let mut stack = vec![initialiser];
        self.visited_by[initialiser as usize] = initialiser;
        while let Some(node) = stack.pop() {
            if !self.enter(linked, node, within_framework, &mut reach) {
                continue;
            }
            let made: Vec<u32> = self.made_references(node).iter().map(|(_, to)| *to).collect();
            let only_complains =
                *self.complains[node as usize].get_or_insert_with(|| is_googletest_code(linked.symbol(node)));
            for &target in linked.row(node).iter().chain(&made) {
                if only_complains && self.is_stream(linked, target) {
                    continue;
                }
                if self.visited_by[target as usize] != initialiser {
                    self.visited_by[target as usize] = initialiser;
                    stack.push(target);
                }
            }
        }
        reach
    }

    /// Takes note of a node; says whether to follow its references.
    fn enter(&mut self, linked: &Linked<'_>, node: u32, within_framework: bool, reach: &mut Reach) -> bool {
        let is_boundary = match linked.node(node) {
            Node::Made(_) => self.made_references(node).is_empty(),
            Node::Element { .. } | Node::Common(_) => {
                let is_border = || is_in_framework(linked, node) || is_registration(linked.symbol(node));
                !within_framework && *self.borders[node as usize].get_or_insert_with(is_border)
            }
        };
        if is_boundary {
            let name = || String::from_utf8_lossy(linked.symbol(node));
            let effect = || match linked.traits(node) {
                Some(traits) if !traits.has(Traits::CODE) => effect_of_data(traits, linked.symbol(node)),
                Some(_) | None => effect_of(&name()),
            };
            match *self.effects[node as usize].get_or_insert_with(effect) {
                Effect::Local => {}
                Effect::Stream => reach.data.push(node),
                Effect::ProcessWide if within_framework => {}
                Effect::ProcessWide => reach.process_wide = Some(name().into_owned()),
            }
            return false;
        }
        if linked.traits(node).is_some_and(|traits| traits.has(Traits::WRITABLE)) {
            let is_registration = || is_registration_data(linked.symbol(node));
            if within_framework || !*self.registrations[node as usize].get_or_insert_with(is_registration) {
                reach.data.push(node);
            }
        }
        true
    }
}

impl Walk {
    fn is_stream(&mut self, linked: &Linked<'_>, node: u32) -> bool {
        let effect = || effect_of(&String::from_utf8_lossy(linked.symbol(node)));
        matches!(linked.node(node), Node::Made(_))
            && *self.effects[node as usize].get_or_insert_with(effect) == Effect::Stream
    }
}

/// Whether an element is GoogleTest's own. Code that its objects merely share with others (of the standard
/// library, say) is not.
fn is_in_framework(linked: &Linked<'_>, node: u32) -> bool {
    let Some(traits) = linked.traits(node) else { return false };
    let is_own =
        || [&b"_ZN7testing"[..], b"_ZNK7testing"].iter().any(|own| linked.symbol(node).starts_with(own));
    linked.is_of_framework(node) && (!traits.has(Traits::SHARED) || is_own())
}

/// GoogleTest's inline code and what its macros make: it writes to a stream only to complain.
fn is_googletest_code(symbol: &[u8]) -> bool {
    static GENERATOR: Part = Part::new(b"_EvalGenerat");
    symbol.starts_with(b"_ZN7testing") || symbol.starts_with(b"_ZNK7testing") || GENERATOR.is_in(symbol)
}

/// What using GoogleTest's own data means: its flags and registries are for the whole process.
fn effect_of_data(traits: Traits, symbol: &[u8]) -> Effect {
    if traits.has(Traits::WRITABLE) && !is_registration(symbol) { Effect::ProcessWide } else { Effect::Local }
}

/// Variables that GoogleTest's macros define in the objects of the tests.
fn is_registration_data(symbol: &[u8]) -> bool {
    static MADE: Part = Part::new(b"gtest_");
    static DUMMY: Part = Part::new(b"_dummy_");
    static SUITE_STATE: Part = Part::new(b"gtest_typed_test_suite_p_state_");
    static CASE_STATE: Part = Part::new(b"gtest_typed_test_case_p_state_");
    let name = symbol.strip_prefix(b"_ZGV").or_else(|| symbol.strip_prefix(b"_Z")).unwrap_or(symbol);
    let mut name = name;
    while let Some(rest) = name.strip_prefix(b"Z") {
        name = rest;
    }
    name.starts_with(b"N7testing")
        || name.starts_with(b"NK7testing")
        || symbol.ends_with(b"10test_info_E")
        || symbol.ends_with(b"24gtest_registering_dummy_E")
        || symbol.starts_with(b"DW.ref.")
        || (MADE.is_in(symbol)
            && (DUMMY.is_in(symbol) || SUITE_STATE.is_in(symbol) || CASE_STATE.is_in(symbol)))
}
