//! From elements to the tests that can reach them, and from what people write to elements.

use fewer_core::{ElementId, Graph, Referrers, TestId};
use fewer_objects::demangled;
use rayon::prelude::*;

use crate::names::split;

/// The tests that can reach any of the elements, sorted.
pub fn tests_reaching(graph: &Graph, elements: &[ElementId]) -> Vec<TestId> {
    let mut reaches = vec![false; graph.element_count()];
    let mut pending: Vec<ElementId> = elements.to_vec();
    let referrers = Referrers::of(graph);
    while let Some(element) = pending.pop() {
        if !std::mem::replace(&mut reaches[element.index()], true) {
            pending
                .extend(referrers.of_element(element).iter().copied().filter(|from| !reaches[from.index()]));
        }
    }
    let is_affected = |roots: &[ElementId]| roots.iter().any(|root| reaches[root.index()]);
    graph.tests().iter().filter(|test| is_affected(&test.roots)).map(|test| test.id.clone()).collect()
}

/// The elements that a name means: the symbol itself, or its demangled form with or without parameters and
/// enclosing scopes. Example: `parse_radix`, `abacus::Lexer::next`, `_ZN6abacus5Lexer4nextEv`.
pub fn named(graph: &Graph, name: &str) -> Vec<ElementId> {
    let elements: Vec<ElementId> = graph.elements().collect();
    // The names are made when the first is asked for, by all threads: one that waits for them here could not help.
    elements.first().map(|first| graph.name(*first));
    elements.into_par_iter().filter(|element| is_called(graph.name(*element), name)).collect()
}

/// The one element with exactly this name, if it is there.
pub fn exactly(graph: &Graph, name: &str) -> Vec<ElementId> {
    graph.elements().filter(|element| graph.name(*element) == name).collect()
}

fn is_called(element: &str, name: &str) -> bool {
    let (_, symbol) = split(element);
    if element == name || symbol == name {
        return true;
    }
    // Demangling is slow: only what can match is demangled.
    let last = name.split('(').next().unwrap_or(name).rsplit("::").next().unwrap_or(name);
    if !["_Z", "_R"].iter().any(|start| symbol.starts_with(start)) || !symbol.contains(last) {
        return false;
    }
    let readable = demangled(symbol);
    let plain = without_parameters(&readable);
    let bare = without_arguments(plain);
    [readable.as_str(), plain, &bare].iter().any(|form| {
        *form == name
            || form.strip_suffix(name).is_some_and(|scope| scope.ends_with("::") || scope.ends_with(' '))
    })
}

/// `int f<std::vector<int> >` as `int f`.
fn without_arguments(readable: &str) -> String {
    let mut depth = 0usize;
    readable
        .chars()
        .filter(|character| match character {
            '<' => {
                depth += 1;
                false
            }
            '>' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
        .collect()
}

/// `a::f(int) const` as `a::f`; the parameters are the last bracketed part at the outermost level.
fn without_parameters(readable: &str) -> &str {
    let mut depth = 0usize;
    for (at, character) in readable.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && !readable[at..].starts_with("(anonymous namespace)") => {
                return &readable[..at];
            }
            _ => {}
        }
    }
    readable
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewer_core::{Digest, GraphBuilder, Mapping, TestNode};

    #[test]
    fn exactly_the_tests_that_reach_an_element_are_affected() {
        let mut builder = GraphBuilder::new();
        let ids: Vec<_> = (0..4).map(|i| builder.element(&format!("e{i}"), Digest(i))).collect();
        for (from, to) in [(0, 2), (2, 3), (3, 2)] {
            builder.reference(ids[from], ids[to]);
        }
        for (name, root) in [("S.A", 0), ("S.B", 1)] {
            builder.test(TestNode {
                id: TestId::new("t", name),
                roots: vec![ids[root]],
                mapping: Mapping::Mapped,
                disabled: false,
            });
        }
        let graph = builder.build();
        assert_eq!(tests_reaching(&graph, &[ids[3]]), [TestId::new("t", "S.A")]);
        assert_eq!(tests_reaching(&graph, &[ids[1]]), [TestId::new("t", "S.B")]);
        assert!(tests_reaching(&graph, &[]).is_empty());
    }

    #[test]
    fn items_of_rust_are_found_by_their_paths() {
        for element in
            ["tool/3x.o:_ZN6engine5chain17h7ac6a26bfd502e37E", "tool/3x.o:_RNvCs1234_6engine5chain"]
        {
            assert!(is_called(element, "engine::chain") && is_called(element, "chain"));
            assert!(!is_called(element, "engine"));
        }
    }

    #[test]
    fn elements_are_found_by_what_people_call_them() {
        let element = "lib.a(lexer.o):_ZN6abacus5Lexer4nextEi";
        for name in [
            "_ZN6abacus5Lexer4nextEi",
            "abacus::Lexer::next(int)",
            "abacus::Lexer::next",
            "Lexer::next",
            "next",
        ] {
            assert!(is_called(element, name), "{name}");
        }
        for name in ["ext", "Lexer", "Parser::next", "next()"] {
            assert!(!is_called(element, name), "{name}");
        }
        let template = "_ZN6abacus21least_common_multipleIlEET_S1_S1_";
        assert!(
            is_called(template, "least_common_multiple")
                && is_called(template, "abacus::least_common_multiple")
        );
    }
}
