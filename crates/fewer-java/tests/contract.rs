//! The contract of selection for Java: for every feature a small tree and a change to it, read from source and
//! from class files, at class and at member level, with the tests that the change must select and those it must
//! not.
//!
//! `FEWER_CONTRACT_CASES=a,b` narrows a run down.

mod support;

use std::path::{Path, PathBuf};

use fewer_core::{ChangeMap, TestId};
use fewer_java::{Analysed, Dependencies, Level, Options, Program, Reflection};

use support::case::{Case, Oracle, Reader};
use support::jars::{JUNIT, KOTLIN, TESTNG};
use support::programs::{MODULE, from_classes, from_source, selected};
use support::trees::{Built, Ending, Tree, build};

/// A case with its two states, compiled.
struct Prepared {
    case: Case,
    before: State,
    after: State,
}

struct State {
    sources: PathBuf,
    classes: PathBuf,
    built: Built,
}

fn prepare(directory: &Path) -> Vec<Prepared> {
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/java/contract");
    let mut cases = Case::all(&contract);
    assert!(cases.len() >= 60, "only {} cases: some are gone", cases.len());
    if let Ok(wanted) = std::env::var("FEWER_CONTRACT_CASES") {
        cases.retain(|case| wanted.split(',').any(|name| name == case.name));
    }
    let mut trees = Vec::new();
    for case in &cases {
        let place = directory.join(&case.name);
        case.unfold(&place.join("before"), &place.join("after"));
        for state in ["before", "after"] {
            let run = case.oracle == Oracle::Outcome || !case.must_not.is_empty();
            let classes = place.join(format!("{state}.classes"));
            trees.push(Tree { sources: place.join(state), classes, run, replaced: None });
        }
    }
    let mut artifacts = JUNIT.to_vec();
    artifacts.extend(TESTNG);
    if cases.iter().any(|case| case.name == "kotlin") {
        artifacts.extend(KOTLIN);
    }
    let built = build(&trees, &artifacts);
    let mut states = trees.into_iter().zip(built).map(|(tree, built)| State {
        sources: tree.sources,
        classes: tree.classes,
        built,
    });
    cases
        .into_iter()
        .map(|case| {
            let (before, after) = (states.next().unwrap(), states.next().unwrap());
            Prepared { case, before, after }
        })
        .collect()
}

#[test]
fn every_change_selects_what_it_must_and_nothing_that_it_must_not() {
    let directory = tempfile::tempdir().unwrap();
    let mut findings: Vec<String> = Vec::new();
    let mut checked = 0;
    for prepared in prepare(directory.path()) {
        findings.extend(outcomes(&prepared));
        for &reader in &prepared.case.readers {
            for level in [Level::Class, Level::Member] {
                findings.extend(check(&prepared, reader, level));
                checked += 1;
            }
            findings.extend(check_firewall(&prepared, reader));
        }
    }
    eprintln!("{checked} selections checked");
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

/// The break-the-test oracle: what must be selected breaks, what must not be selected stays green.
fn outcomes(prepared: &Prepared) -> Vec<String> {
    let Prepared { case, before, after } = prepared;
    let mut findings = Vec::new();
    for (state, built) in [("before", &before.built), ("after", &after.built)] {
        if let Some(complaint) = &built.complaint {
            findings.push(format!("{} does not compile {state}: {complaint}", case.name));
        }
    }
    let endings = |id: &String| (before.built.endings.get(id).copied(), after.built.endings.get(id).copied());
    for id in &case.must {
        if case.oracle == Oracle::Outcome && endings(id) != (Some(Ending::Passed), Some(Ending::Failed)) {
            findings.push(format!("{}: {id} ended {:?}", case.name, endings(id)));
        }
    }
    for id in case.must_not.iter().chain(&case.member_must_not) {
        if endings(id) != (Some(Ending::Passed), Some(Ending::Passed)) {
            findings.push(format!("{}: {id} ended {:?}", case.name, endings(id)));
        }
    }
    findings
}

fn check(prepared: &Prepared, reader: Reader, level: Level) -> Vec<String> {
    let case = &prepared.case;
    let options = Options { level, ..Options::default() };
    let (before, after) =
        (analyse(&prepared.before, reader, options), analyse(&prepared.after, reader, options));
    let selected = selected(&before, &after);
    let label = format!("{} ({reader:?}, {level:?})", case.name);
    let mut findings = Vec::new();
    for id in case.must.iter().chain(&case.must_not) {
        if after.graph.test(&TestId::new(MODULE, id)).is_none() {
            findings.push(format!("{label}: no such test: {id}"));
        }
    }
    for id in case.must.iter().filter(|id| !selected.contains(*id)) {
        findings.push(format!("{label}: MISSED {id} ({})", case.purpose));
    }
    let extras = case.extras(reader);
    let member_only = if level == Level::Member { case.member_must_not.as_slice() } else { &[] };
    for id in case.must_not.iter().chain(member_only) {
        let is_selected = selected.contains(id);
        if is_selected && !extras.contains(&id) {
            findings.push(format!("{label}: {id} is selected, {}", why(&before, &after, id)));
        }
    }
    if level == Level::Class {
        for id in extras.into_iter().filter(|id| !selected.contains(*id)) {
            findings.push(format!("{label}: {id} is no longer selected: remove it from [[extra]]"));
        }
    }
    findings
}

fn check_firewall(prepared: &Prepared, reader: Reader) -> Vec<String> {
    let case = &prepared.case;
    let options = Options { dependencies: Dependencies::Firewall, ..Options::default() };
    let (before, after) =
        (analyse(&prepared.before, reader, options), analyse(&prepared.after, reader, options));
    let selected = selected(&before, &after);
    let expected = case.must.iter().filter(|id| !case.firewall_misses.contains(id));
    let missed = expected.filter(|id| !selected.contains(*id)).map(|id| format!("misses {id}"));
    let found = case.firewall_misses.iter().filter(|id| selected.contains(*id));
    let found = found.map(|id| format!("finds {id}, {}", why(&before, &after, id)));
    missed.chain(found).map(|finding| format!("{} ({reader:?}, firewall) {finding}", case.name)).collect()
}

fn why(before: &Analysed, after: &Analysed, id: &str) -> String {
    let changes = ChangeMap::between(&before.graph, &after.graph);
    let explanation = changes.explain(&TestId::new(MODULE, id));
    explanation.map_or_else(String::new, |why| format!("{} because {why}", why.path.join(" > ")))
}

fn analyse(state: &State, reader: Reader, options: Options) -> Analysed {
    let program = match reader {
        Reader::Source => {
            let (project, inputs) = from_source(&state.sources);
            Program { classes: project.classes().cloned().collect(), inputs }
        }
        Reader::Classes => from_classes(&state.classes),
    };
    program.analyse(Options { reflection: Reflection::Everything, ..options })
}
