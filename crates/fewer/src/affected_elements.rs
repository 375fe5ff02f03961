//! From elements to the tests that can reach them, and from what people write to elements.

use fewer_core::{ElementId, Graph, Mapping, Referrers, TestId, TestNode};
use fewer_objects::demangled;
use rayon::prelude::*;

use crate::names::{readable, split};

/// Classes that symbols of C++ have an abbreviation for instead of the name.
const ABBREVIATED: [&str; 6] =
    ["allocator", "basic_string", "string", "basic_istream", "basic_ostream", "basic_iostream"];

/// How many names are suggested instead of one that is not there.
const SUGGESTIONS: usize = 10;

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

/// The tests that a change of the elements can affect: those that reach one, and those of which nobody knows what they
/// reach, such as documentation tests, which are compiled when they run.
pub fn tests_affected(graph: &Graph, elements: &[ElementId]) -> Vec<TestId> {
    let is_unseen = |test: &&TestNode| test.roots.is_empty() && test.mapping != Mapping::Mapped;
    let unseen = graph.tests().iter().filter(is_unseen).map(|test| test.id.clone());
    let mut tests: Vec<TestId> = tests_reaching(graph, elements).into_iter().chain(unseen).collect();
    tests.sort();
    tests
}

/// The elements that a name means: the symbol itself or an alias of it, what `why` calls it, or its demangled form with or
/// without parameters, template arguments, enclosing scopes and ABI tags. Example: `parse_radix`, `abacus::Lexer::next`,
/// `_ZN6abacus5Lexer4nextEv`, `abacus::Lexer::next() (lexer.o)`.
pub fn named(graph: &Graph, name: &str) -> Vec<ElementId> {
    let name = Wanted::of(name);
    of_names(graph, |element| name.is_of(element).then_some(()))
        .into_iter()
        .map(|(element, ())| element)
        .collect()
}

/// Names for people that one may have been meant to be: they contain it, or are a slip or two away from it.
pub fn similar(graph: &Graph, name: &str) -> Vec<String> {
    let wanted = last_part(&Wanted::of(name).form).to_lowercase();
    let slips = (wanted.len() / 3).max(1);
    let distance = |element: &str| {
        let readable = readable(element);
        let last = last_part(&demangled(split(element).1)).to_lowercase();
        let distance = match last.contains(&wanted) {
            true => 1,
            false => Some(strsim::damerau_levenshtein(&last, &wanted)).filter(|found| *found <= slips)?,
        };
        Some((distance, readable.len(), readable))
    };
    let mut found: Vec<(usize, usize, String)> =
        of_names(graph, distance).into_iter().map(|(_, found)| found).collect();
    found.sort();
    found.dedup();
    found.into_iter().take(SUGGESTIONS).map(|(_, _, name)| name).collect()
}

/// What a question finds in the names of elements.
fn of_names<F: Send>(graph: &Graph, find: impl Fn(&str) -> Option<F> + Sync) -> Vec<(ElementId, F)> {
    let elements: Vec<ElementId> = graph.elements().collect();
    // The names are made when the first is asked for, by all threads: one that waits for them here could not help.
    elements.first().map(|first| graph.name(*first));
    elements.into_par_iter().filter_map(|element| Some((element, find(graph.name(element))?))).collect()
}

/// The one element with exactly this name, if it is there.
pub fn exactly(graph: &Graph, name: &str) -> Vec<ElementId> {
    graph.elements().filter(|element| graph.name(*element) == name).collect()
}

/// A name as people write it, ready to be compared.
struct Wanted<'n> {
    text: &'n str,
    /// Of a symbol its demangled form, which its aliases share: the constructors of a complete object and of a base.
    form: String,
    /// What occurs in every symbol of that name, where it is so plain that this can be told: demangling is slow.
    part: Option<&'n str>,
}

impl Wanted<'_> {
    fn of(text: &str) -> Wanted<'_> {
        let is_plain = |name: &&str| {
            let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
            name.split("::").all(|part| !part.is_empty() && part.chars().all(is_of_name)) && !is_symbol(name)
        };
        let part = Some(text).filter(is_plain).map(last_part).filter(|part| !ABBREVIATED.contains(part));
        // A short name of C could be read as a type.
        let form = if is_symbol(text) { normal(&demangled(text)) } else { normal(text) };
        Wanted { text, form, part }
    }

    fn is_of(&self, element: &str) -> bool {
        let (_, symbol) = split(element);
        if [element, symbol, without_clone(symbol)].contains(&self.text) {
            return true;
        }
        if self.part.is_some_and(|part| !symbol.contains(part)) {
            return false;
        }
        self.is_form_of(symbol) || (self.part.is_none() && readable(element) == self.text)
    }

    fn is_form_of(&self, symbol: &str) -> bool {
        if !is_symbol(symbol) {
            return false;
        }
        let readable = normal(&demangled(symbol));
        let plain = without_parameters(&readable);
        let bare = without_arguments(plain);
        [readable.as_str(), plain, &bare].iter().any(|form| {
            form.strip_suffix(self.form.as_str())
                .is_some_and(|scope| scope.is_empty() || scope.ends_with("::") || scope.ends_with(' '))
        })
    }
}

/// Whether a compiler of C++ or Rust made it of a longer name.
fn is_symbol(name: &str) -> bool {
    ["_Z", "_R"].iter().any(|start| name.starts_with(start))
}

/// `_Z1fi` of `_Z1fi.part.0`, which a compiler split off.
fn without_clone(symbol: &str) -> &str {
    symbol.split_once('.').map_or(symbol, |(whole, _)| if whole.is_empty() { symbol } else { whole })
}

/// Without what demanglers and people write or leave out: ABI tags, marks of clones, a space between brackets.
fn normal(readable: &str) -> String {
    let mut text =
        readable.split(" [clone ").next().unwrap_or(readable).replace("> >", ">>").replace("> >", ">>");
    while let Some(at) = text.find("[abi:") {
        let end = text[at..].find(']').map_or(text.len(), |length| at + length + 1);
        text.replace_range(at..end, "");
    }
    text
}

/// `next` of `abacus::Lexer::next(int) const`, `Square` of `demo.Square`.
fn last_part(name: &str) -> &str {
    let bare = without_parameters(name);
    bare.rsplit([':', '.', ' ']).next().unwrap_or(bare)
}

/// `int f<std::vector<int> >` as `int f`.
fn without_arguments(readable: &str) -> String {
    let mut text = String::new();
    outermost(readable, |_, rest| {
        text.push_str(rest);
        false
    });
    text
}

/// `a::f(int) const` as `a::f`; the parameters are the first bracketed part at the outermost level.
fn without_parameters(readable: &str) -> &str {
    let mut end = readable.len();
    outermost(readable, |at, part| {
        let is_found = part == "(" && !readable[at..].starts_with("(anonymous namespace)");
        if is_found {
            end = at;
        }
        is_found
    });
    &readable[..end]
}

/// Goes through the pieces of a name that are in no template arguments, until it is enough. The name of an operator is one
/// piece: its brackets are none.
fn outermost<'r>(readable: &'r str, mut is_enough: impl FnMut(usize, &'r str) -> bool) {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(character) = readable[at..].chars().next() {
        let rest = &readable[at..];
        let length = operator(readable, at).unwrap_or(character.len_utf8());
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 && is_enough(at, &rest[..length]) => return,
            _ => {}
        }
        at += length;
    }
}

/// The length of an operator's name, if one begins there. Example: 10 for `operator<<(int)`.
fn operator(readable: &str, at: usize) -> Option<usize> {
    let rest = readable[at..].strip_prefix("operator")?;
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    if readable[..at].ends_with(is_word) || rest.starts_with(is_word) {
        return None;
    }
    let signs = if rest.starts_with("()") {
        2
    } else {
        rest.find(|character| !"<>=!+-*/%^&|~,[]".contains(character)).unwrap_or(rest.len())
    };
    Some("operator".len() + signs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewer_core::{Digest, GraphBuilder};

    fn is_called(element: &str, name: &str) -> bool {
        Wanted::of(name).is_of(element)
    }

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

    #[test]
    fn tags_aliases_and_operators_are_no_obstacles() {
        for (element, names) in [
            (
                "text.o:_Z5shoutB5cxx11NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                &[
                    "shout",
                    "shout[abi:cxx11]",
                    "shout[abi:cxx11](std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
                    "shout(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>)",
                ][..],
            ),
            ("_ZN5LexerC2Ei", &["_ZN5LexerC1Ei", "Lexer::Lexer", "Lexer::Lexer(int)", "Lexer"]),
            ("_ZN5LexerD0Ev", &["_ZN5LexerD1Ev", "Lexer::~Lexer()", "~Lexer"]),
            ("a.o:_ZlsRSo5Point", &["operator<<", "operator<<(std::ostream&, Point)"]),
            ("_ZNK4LessclEii", &["Less::operator()", "operator()", "Less::operator()(int, int) const"]),
            ("_ZN1a1fEv.part.0", &["a::f", "a::f()", "_ZN1a1fEv"]),
            ("helper.cold", &["helper"]),
            ("_Z1fIiEvT_", &["f", "f<int>", "void f<int>(int)"]),
        ] {
            for name in names {
                assert!(is_called(element, name), "{element} is not called {name}");
            }
        }
        for (element, name) in [("_ZN5LexerC2Ei", "_ZN5LexerC1Ev"), ("_ZltRK5PointS1_", "operator<<")] {
            assert!(!is_called(element, name), "{element} is called {name}");
        }
    }

    #[test]
    fn an_element_is_known_by_what_why_calls_it() {
        let long = format!("a.o:_Z1fILi{}EEvv", "1".repeat(300));
        for element in ["dir/a.cpp.o:_ZN5Lexer4nextEv", "lib.a(x.o):main", "file testdata/a:b.txt", &long] {
            assert!(is_called(element, &readable(element)), "{}", readable(element));
        }
        assert!(!is_called("b.o:_ZN5Lexer4nextEv", "Lexer::next() (a.o)"));
    }

    #[test]
    fn slips_are_answered_with_names_that_are_there() {
        let mut builder = GraphBuilder::new();
        for name in ["a.o:_Z9perimeterii", "a.o:_Z4areaii", "a.o:main"] {
            builder.element(name, Digest(0));
        }
        let graph = builder.build();
        assert_eq!(similar(&graph, "perimetre"), ["perimeter(int, int) (a.o)"]);
        assert_eq!(similar(&graph, "Peri"), ["perimeter(int, int) (a.o)"]);
        assert!(similar(&graph, "somewhere/else.txt").is_empty());
    }

    #[test]
    fn tests_of_which_nothing_is_known_are_affected_by_everything() {
        let mut builder = GraphBuilder::new();
        let element = builder.element("e", Digest(0));
        for (name, mapping) in [
            ("seen", Mapping::Mapped),
            ("doc", Mapping::Unmapped { cause: "compiled when they run".to_string() }),
        ] {
            builder.test(TestNode {
                id: TestId::new("t", name),
                roots: Vec::new(),
                mapping,
                disabled: false,
            });
        }
        assert_eq!(tests_affected(&builder.build(), &[element]), [TestId::new("t", "doc")]);
    }
}
