//! The three-way merge of recorded graphs, rule by rule: elements, groups of one name, deletions, units, renames,
//! tests, several merge bases; and what follows for the tests.

use std::collections::BTreeSet;
use std::sync::Arc;

use fewer_core::history::*;
use fewer_core::{
    CommitGraph, CommitGraphBuilder, CommitIndex, Digest, DigestBuilder, Domain, ElementId, Fingerprints,
    GraphBuilder, Mapping, TestId, TestNode,
};

/// A state written down: `name content -> callee callee` per line. A line `test NAME root root` is a test, `unit
/// NAME: input input` is a unit whose elements are named `NAME:...`. A callee `name#1` is the second of that name.
fn state(text: &str) -> RecordedGraph {
    let mut graph = GraphBuilder::new();
    let mut units = UnitsBuilder::new();
    let mut names: Vec<String> = Vec::new();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_element = |line: &&&str| !line.starts_with("test ") && !line.starts_with("unit ");
    for line in lines.iter().filter(is_element) {
        let mut words = line.split(' ');
        let (name, content) = (words.next().unwrap(), words.next().unwrap());
        let digest = DigestBuilder::new(Domain::new("state")).text(name).text(content).finish();
        graph.element(name, digest);
        names.push(name.to_string());
    }
    let find = |word: &str| -> ElementId {
        let (name, nth) = word.split_once('#').map_or((word, 0), |(name, nth)| (name, nth.parse().unwrap()));
        let mut same = names.iter().enumerate().filter(|(_, other)| *other == name);
        ElementId(same.nth(nth).unwrap_or_else(|| panic!("no {word}")).0 as u32)
    };
    for (index, line) in lines.iter().filter(is_element).enumerate() {
        for callee in line.split_once("-> ").map_or("", |(_, callees)| callees).split_whitespace() {
            graph.reference(ElementId(index as u32), find(callee));
        }
    }
    for line in &lines {
        if let Some(rest) = line.strip_prefix("test ") {
            let mut words = rest.split(' ');
            let id = TestId::new("t", words.next().unwrap());
            graph.test(TestNode {
                id,
                roots: words.map(find).collect(),
                mapping: Mapping::Mapped,
                disabled: false,
            });
        }
        if let Some(rest) = line.strip_prefix("unit ") {
            let (name, inputs) = rest.split_once(':').unwrap();
            let inputs = match inputs.trim() {
                "?" => Inputs::Unknown,
                known => Inputs::Known(known.split_whitespace().map(|path| units.path(path)).collect()),
            };
            let unit = units.unit(name, inputs);
            for (index, element) in names.iter().enumerate() {
                if element.split(':').next().unwrap().split('+').any(|part| part == name) {
                    units.member(ElementId(index as u32), unit);
                }
            }
        }
    }
    units.common_input("CMakeLists.txt");
    RecordedGraph::new(graph.build(), units.build())
}

/// `+path` added, `-path` deleted, `path` modified.
fn changed(text: &str) -> ChangedPaths {
    let mut changed = ChangedPaths::default();
    for word in text.split_whitespace() {
        match word.split_at(1) {
            ("+", path) => changed.added.insert(path.to_string()),
            ("-", path) => changed.deleted.insert(path.to_string()),
            (_, _) => changed.modified.insert(word.to_string()),
        };
    }
    changed
}

/// Tests to run after merging, with the causes, when every test of the three states has an outcome.
struct Merged {
    graph: RecordedGraph,
    prediction: Prediction,
}

fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    merge_with_paths(base, ours, theirs, "", "")
}

fn merge_with_paths(base: &str, ours: &str, theirs: &str, by_ours: &str, by_theirs: &str) -> Merged {
    let states = [state(base), state(ours), state(theirs)];
    let [base, ours, theirs] = &states;
    let graph = merge_graphs(base, ours, theirs, &changed(by_ours), &changed(by_theirs));
    let prediction = predict_from(&graph, &states);
    Merged { graph, prediction }
}

fn predict_from(merged: &RecordedGraph, states: &[RecordedGraph]) -> Prediction {
    let mut recorded: BTreeSet<(TestId, Digest)> = BTreeSet::new();
    for state in states {
        recorded.extend(Fingerprints::compute(state.graph()).snapshot(state.graph()));
    }
    predict(merged, |test, fingerprint| recorded.contains(&(test.clone(), fingerprint)))
}

impl Merged {
    fn selected(&self) -> Vec<&str> {
        self.prediction.selected.keys().map(|test| test.name.as_str()).collect()
    }

    fn cause(&self, test: &str) -> &PredictedCause {
        &self.prediction.selected[&TestId::new("t", test)]
    }

    fn cause_text(&self, test: &str) -> String {
        self.cause(test).to_string()
    }

    fn unknown(&self) -> Vec<&str> {
        let graph = self.graph.graph();
        let unknown = graph.elements().filter(|&element| self.graph.unknown(element).is_some());
        unknown.map(|element| graph.name(element)).collect()
    }
}

#[test]
fn changes_of_different_elements_are_both_taken() {
    let merged = merge(
        "f 1 -> g\ng 1\nh 1\ntest a f\ntest b h",
        "f 2 -> g\ng 1\nh 1\ntest a f\ntest b h",
        "f 1 -> g\ng 1\nh 2\ntest a f\ntest b h",
    );
    assert!(merged.selected().is_empty(), "each test has been run with the one change it reaches");
    assert!(merged.unknown().is_empty());
}

#[test]
fn a_test_that_reaches_changes_of_both_sides_is_selected() {
    let merged = merge(
        "f 1 -> g\ng 1\ntest a f\ntest b g",
        "f 2 -> g\ng 1\ntest a f\ntest b g",
        "f 1 -> g\ng 2\ntest a f\ntest b g",
    );
    assert_eq!(merged.selected(), ["a"]);
    assert_eq!(*merged.cause("a"), PredictedCause::NewFingerprint);
}

#[test]
fn the_same_change_on_both_sides_is_known() {
    let merged = merge("f 1\ntest a f", "f 2\ntest a f", "f 2\ntest a f");
    assert!(merged.selected().is_empty());
}

#[test]
fn an_element_that_both_sides_changed_is_unknown() {
    let merged = merge(
        "e 1 -> f\nf 1\ng 1\ntest a e\ntest b g",
        "e 1 -> f\nf 2\ng 1\ntest a e\ntest b g",
        "e 1 -> f\nf 3\ng 1\ntest a e\ntest b g",
    );
    assert_eq!(merged.unknown(), ["f"]);
    assert_eq!(merged.selected(), ["a"]);
    assert_eq!(merged.cause_text("a"), "it reaches f: both sides changed it");
}

#[test]
fn an_element_deleted_on_one_side_and_unchanged_on_the_other_is_gone() {
    let merged = merge("f 1\ng 1 -> f\ntest a g", "f 1\ng 1 -> f\ntest a g", "g 2\ntest a g");
    assert_eq!(merged.graph.graph().element_count(), 1);
    assert!(merged.selected().is_empty());
}

#[test]
fn an_element_deleted_on_one_side_and_changed_on_the_other_is_unknown() {
    let merged = merge("f 1\ng 1 -> f\ntest a g", "f 2\ng 1 -> f\ntest a g", "g 1\ntest a g");
    assert_eq!(merged.unknown(), ["f"]);
    assert!(merged.selected().is_empty(), "the side that deleted f stopped g from using it");
}

#[test]
fn an_element_that_uses_what_the_other_side_deleted_is_unknown() {
    let merged = merge("f 1\ntest a f", "f 1\ng 1 -> f\ntest a f\ntest b g", "h 1\ntest c h");
    assert_eq!(merged.unknown(), ["g"]);
    assert_eq!(merged.selected(), ["b"]);
    assert_eq!(merged.cause_text("b"), "it reaches g: it uses something that the other side deleted");
}

#[test]
fn a_rewired_reference_counts_as_a_change() {
    let merged =
        merge("f 1 -> g\ng 1\nh 1\ntest a f", "f 1 -> h\ng 1\nh 1\ntest a f", "f 1 -> g\ng 2\nh 2\ntest a f");
    assert_eq!(merged.selected(), ["a"], "f with the new h was never run");
}

#[test]
fn a_collection_takes_what_both_sides_add_and_drop() {
    let merged = merge(
        "files 1 -> x y\nx 1\ny 1\ntest a files",
        "files 1 -> x y z\nx 1\ny 1\nz 1\ntest a files",
        "files 1 -> x\nx 1\ntest a files",
    );
    assert!(merged.unknown().is_empty());
    assert_eq!(merged.selected(), ["a"], "x and z together were never run");
    let graph = merged.graph.graph();
    let files = graph.elements().find(|&element| graph.name(element) == "files").unwrap();
    let names: BTreeSet<&str> = graph.references(files).iter().map(|&target| graph.name(target)).collect();
    assert_eq!(names, BTreeSet::from(["x", "z"]));
}

#[test]
fn members_of_a_group_are_told_apart_whatever_their_order() {
    // Two elements `f`; only the second changes, and each test reaches one of them.
    let merged = merge(
        "f 1\nf 2\na 1 -> f\nb 1 -> f#1\nc 1\ntest a a\ntest b b\ntest c c",
        "f 9\nf 1\na 1 -> f#1\nb 1 -> f\nc 1\ntest a a\ntest b b\ntest c c",
        "f 2\nf 1\na 1 -> f#1\nb 1 -> f\nc 2\ntest a a\ntest b b\ntest c c",
    );
    assert!(merged.unknown().is_empty());
    assert!(merged.selected().is_empty(), "{:?}", merged.prediction);
}

#[test]
fn a_reference_into_a_group_of_the_other_side_means_all_members() {
    let merged =
        merge("f 1\nf 2\na 1 -> f\ntest a a", "f 1\nf 2\na 2 -> f\ntest a a", "f 1\nf 3\na 1 -> f\ntest a a");
    let graph = merged.graph.graph();
    let a = graph.elements().find(|&element| graph.name(element) == "a").unwrap();
    assert_eq!(graph.references(a).len(), 2);
    assert_eq!(merged.selected(), ["a"]);
}

#[test]
fn a_group_whose_members_cannot_be_told_apart_is_referred_to_as_a_whole() {
    // Equal names and contents, but the first calls the old g and the second the other: places mean nothing.
    let text = "f 1 -> g\nf 1 -> g#1\ng 1\ng 2\na 1 -> f\ntest a a";
    let merged = merge(text, text, text);
    assert_eq!(merged.selected(), ["a"], "safe, if needless");
}

#[test]
fn added_tests_run_unless_their_side_has_run_them() {
    let base = "f 1\ntest a f";
    let ours = "f 1\ng 1 -> f\nh 1\ntest a f\ntest b g\ntest c h";
    let merged = merge(base, ours, "f 2\ntest a f");
    assert_eq!(merged.selected(), ["b"]);
    assert_eq!(*merged.cause("b"), PredictedCause::NewTest);
}

#[test]
fn removed_tests_are_gone() {
    let merged = merge("f 1\ng 1\ntest a f\ntest b g", "f 1\ng 1\ntest a f\ntest b g", "f 2\ng 1\ntest a f");
    assert_eq!(merged.graph.graph().tests().len(), 1);
}

#[test]
fn tests_that_both_sides_changed_or_one_removed_are_selected() {
    let base = "f 1\ng 1\nh 1\ntest a f\ntest b f";
    let merged = merge(base, "f 1\ng 1\nh 1\ntest a g\ntest b g", "f 1\ng 1\nh 1\ntest a h");
    assert_eq!(*merged.cause("a"), PredictedCause::Doubtful(TestDoubt::ChangedOnBothSides));
    assert_eq!(*merged.cause("b"), PredictedCause::Doubtful(TestDoubt::DeletedAndChanged));
}

#[test]
fn a_test_whose_start_the_other_side_deleted_is_selected() {
    let merged = merge("f 1\ng 1\ntest a g", "f 1\ng 1\ntest a f g", "g 1\ntest a g");
    assert_eq!(*merged.cause("a"), PredictedCause::Doubtful(TestDoubt::RootDeleted));
}

#[test]
fn an_unmapped_test_is_always_selected_and_a_disabled_one_never() {
    let with_tests = || {
        let node = |name: &str, mapping, disabled| TestNode {
            id: TestId::new("t", name),
            roots: Vec::new(),
            mapping,
            disabled,
        };
        let unmapped = Mapping::Unmapped { cause: "a script".to_string() };
        let tests = vec![node("a", unmapped, false), node("b", Mapping::Mapped, true)];
        RecordedGraph::new(state("f 1").graph().clone().with_tests(tests), Units::default())
    };
    let states = [with_tests(), with_tests(), with_tests()];
    let [base, ours, theirs] = &states;
    let merged = merge_graphs(base, ours, theirs, &changed(""), &changed(""));
    let prediction = predict_from(&merged, &states);
    let selected: Vec<_> =
        prediction.selected.iter().map(|(test, cause)| (test.name.as_str(), cause)).collect();
    assert_eq!(selected, [("a", &PredictedCause::Unmapped { cause: "a script".to_string() })]);
    assert_eq!(prediction.disabled.len(), 1);
}

const TWO_UNITS: &str =
    "a.o:f 1\nb.o:g 1\na.o+b.o:inline 1\ntest f a.o:f\ntest g b.o:g\ntest i a.o+b.o:inline
    unit a.o: a.cpp common.h\nunit b.o: b.cpp common.h other.h";

#[test]
fn a_unit_whose_inputs_both_sides_touched_is_unknown_as_a_whole() {
    // Nothing seems to change, but the text of b.o is new: an overload on one side, a call on the other.
    let merged = merge_with_paths(TWO_UNITS, TWO_UNITS, TWO_UNITS, "other.h", "b.cpp docs.md");
    assert_eq!(merged.unknown(), ["b.o:g", "a.o+b.o:inline"]);
    assert_eq!(merged.selected(), ["g", "i"]);
    assert_eq!(
        merged.cause_text("g"),
        "it reaches b.o:g: both sides changed files that b.o is compiled from"
    );
}

#[test]
fn units_that_only_one_side_touched_are_what_that_side_compiled() {
    let merged = merge_with_paths(TWO_UNITS, TWO_UNITS, TWO_UNITS, "a.cpp", "b.cpp other.h docs.md");
    assert!(merged.unknown().is_empty());
    assert!(merged.selected().is_empty());
}

#[test]
fn inputs_count_that_only_one_of_the_states_lists() {
    let theirs = TWO_UNITS.replace("unit a.o: a.cpp common.h", "unit a.o: a.cpp common.h new.h");
    let merged = merge_with_paths(TWO_UNITS, TWO_UNITS, &theirs, "+new.h", "a.cpp");
    assert_eq!(merged.selected(), ["f", "i"]);
}

#[test]
fn a_build_description_is_an_input_of_every_unit() {
    let merged = merge_with_paths(TWO_UNITS, TWO_UNITS, TWO_UNITS, "CMakeLists.txt", "a.cpp");
    assert_eq!(merged.selected(), ["f", "i"]);
}

#[test]
fn a_unit_of_unknown_inputs_is_touched_by_every_change() {
    let text = TWO_UNITS.replace("unit a.o: a.cpp common.h", "unit a.o: ?");
    assert_eq!(merge_with_paths(&text, &text, &text, "x", "y").selected(), ["f", "i"]);
    assert!(merge_with_paths(&text, &text, &text, "x", "").selected().is_empty());
}

#[test]
fn a_change_follows_a_file_that_the_other_side_renamed() {
    // Ours renames a.cpp to c.cpp, theirs changes a.cpp: git puts the change into c.cpp, which only ours compiled.
    let base = "a.o:f 1\ntest f a.o:f\nunit a.o: a.cpp";
    let ours = "c.o:f 1\ntest f c.o:f\nunit c.o: c.cpp";
    let theirs = "a.o:f 2\ntest f a.o:f\nunit a.o: a.cpp";
    let merged = merge_with_paths(base, ours, theirs, "-a.cpp +c.cpp", "a.cpp");
    assert!(merged.unknown().contains(&"c.o:f"), "{:?}", merged.unknown());
    assert_eq!(merged.selected(), ["f"]);
    let merged = merge_with_paths(base, ours, base, "-a.cpp +c.cpp", "b.cpp");
    assert!(merged.selected().is_empty());
}

#[test]
fn a_new_file_may_be_included_instead_of_one_of_the_same_name() {
    let base = "a.o:f 1\ntest f a.o:f\nunit a.o: a.cpp lib/x.h";
    let merged = merge_with_paths(base, base, base, "+src/x.h", "a.cpp");
    assert_eq!(merged.selected(), ["f"]);
}

/// Three-way merges over a history, from states written down.
struct Written {
    states: Vec<Option<RecordedGraph>>,
}

impl GraphSource for Written {
    type Error = String;

    fn graph(&mut self, commit: CommitIndex) -> Result<Option<Arc<RecordedGraph>>, String> {
        Ok(self.states[commit.index()].clone().map(Arc::new))
    }

    fn changed_paths(&mut self, _: CommitIndex, _: CommitIndex) -> Result<ChangedPaths, String> {
        Ok(ChangedPaths::default())
    }
}

fn history(parents: &[&[u32]]) -> CommitGraph {
    let mut builder = CommitGraphBuilder::new();
    for parents in parents {
        builder.commit(&parents.iter().copied().map(CommitIndex).collect::<Vec<_>>());
    }
    builder.build()
}

fn merge_written(
    graph: &CommitGraph,
    texts: &[&str],
    commits: &[u32],
) -> Result<Merged, Unpredictable<String>> {
    let states: Vec<RecordedGraph> = texts.iter().map(|text| state(text)).collect();
    let mut source = Written { states: states.iter().cloned().map(Some).collect() };
    let commits: Vec<CommitIndex> = commits.iter().copied().map(CommitIndex).collect();
    let merged = merge_of_commits(graph, &commits, &mut source)?;
    Ok(Merged { graph: merged.as_ref().clone(), prediction: predict_from(&merged, &states) })
}

#[test]
fn an_octopus_merge_folds_one_parent_after_the_other() {
    let graph = history(&[&[], &[0], &[0], &[0]]);
    let tests = "test a f\ntest b g\ntest c h\ntest d f g";
    let text = |f, g, h| format!("f {f}\ng {g}\nh {h}\n{tests}");
    let texts = [text(1, 1, 1), text(2, 1, 1), text(1, 2, 1), text(1, 1, 2)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let merged = merge_written(&graph, &texts, &[1, 2, 3]).unwrap();
    assert_eq!(merged.selected(), ["d"]);
}

#[test]
fn criss_cross_merges_use_the_merge_of_their_bases() {
    // 1 changes f, 2 changes g, 3 and 4 merge both; then 4 changes f again and 3 changes g again.
    let graph = history(&[&[], &[0], &[0], &[1, 2], &[2, 1]]);
    let text = |f: u32, g: u32, h: u32| format!("f {f}\ng {g}\nh {h}\ntest a f\ntest b g\ntest c h");
    let texts = [text(1, 1, 1), text(2, 1, 1), text(1, 2, 1), text(2, 3, 1), text(3, 2, 1)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let merged = merge_written(&graph, &texts, &[3, 4]).unwrap();
    assert!(merged.unknown().is_empty(), "with 1 or 2 alone as base, f or g would have changed twice");
    assert!(merged.selected().is_empty());
}

#[test]
fn what_the_bases_of_a_criss_cross_merge_both_changed_is_known_only_if_the_sides_agree() {
    let graph = history(&[&[], &[0], &[0], &[1, 2], &[2, 1]]);
    let text = |f: u32, g: u32| format!("f {f}\ng {g}\ntest a f\ntest b g");
    // Both conflicts were resolved by hand: that of f in the same way, that of g differently.
    let texts = [text(1, 1), text(2, 2), text(3, 3), text(9, 2), text(9, 3)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let merged = merge_written(&graph, &texts, &[3, 4]).unwrap();
    assert_eq!(merged.unknown(), ["g"]);
    assert_eq!(merged.selected(), ["b"]);
}

#[test]
fn unrelated_or_unrecorded_commits_cannot_be_predicted() {
    let text = "f 1\ntest a f";
    let unrelated = merge_written(&history(&[&[], &[]]), &[text, text], &[0, 1]);
    assert!(matches!(unrelated, Err(Unpredictable::Unrelated(CommitIndex(1)))));
    assert!(matches!(merge_written(&history(&[&[]]), &[text], &[]), Err(Unpredictable::NothingToMerge)));
    let mut source = Written { states: vec![None, Some(state(text)), Some(state(text))] };
    let unrecorded =
        merge_of_commits(&history(&[&[], &[0], &[0]]), &[CommitIndex(1), CommitIndex(2)], &mut source);
    assert!(matches!(unrecorded, Err(Unpredictable::NotRecorded(CommitIndex(0)))));
}

#[test]
fn merging_with_an_ancestor_or_a_descendant_gives_the_later_state() {
    let graph = history(&[&[], &[0]]);
    let texts = ["f 1\ntest a f", "f 2\ntest a f"];
    for order in [[0, 1], [1, 0]] {
        let merged = merge_written(&graph, &texts, &order).unwrap();
        let element = merged.graph.graph().content(ElementId(0));
        assert_eq!(element, state(texts[1]).graph().content(ElementId(0)));
        assert!(merged.selected().is_empty());
    }
}
