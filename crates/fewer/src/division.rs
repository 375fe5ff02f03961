//! Which programs must not be taken apart: what the settings say, and what runs have shown. How such a program is run
//! is told by the runners.

use std::collections::BTreeMap;

use fewer_core::{Digest, Domain};
use fewer_runners::Indivisible;
use fewer_runners::googletest::Division;
use fewer_store::{Store, StoreError};

use crate::session::Session;

const PROGRAM: Domain = Domain::new("division.program");
/// The kind of the recorded blob.
const KIND: &str = "division";

/// By target how far each of these programs may be taken apart; absent where nothing is known.
pub fn of(session: &Session<'_>, targets: &[&str]) -> BTreeMap<String, Division> {
    let keys: Vec<Digest> = targets.iter().map(|target| key(target)).collect();
    // What cannot be read is learnt again.
    let recorded = session.store().blobs(KIND, &keys).unwrap_or_default();
    let undivided = &session.project.settings.undivided;
    let mut divisions = BTreeMap::new();
    for target in targets {
        let set = if undivided.is_match(target) { Division::OneProcess } else { Division::Free };
        let shown = recorded.get(&key(target)).and_then(|bytes| from_word(bytes)).unwrap_or_default();
        divisions.insert(target.to_string(), set.max(shown));
    }
    divisions
}

/// Keeps what a run has shown.
pub fn remember(store: &Store, indivisible: &Indivisible) -> Result<(), StoreError> {
    let word = word(indivisible.division).as_bytes().to_vec();
    store.replace_blobs(KIND, &[(key(&indivisible.target), word)])
}

/// What people are told.
pub fn note(indivisible: &Indivisible) -> String {
    let Indivisible { target, tests, division } = indivisible;
    let example = tests.first().map_or_else(String::new, |test| format!(" (such as {})", test.name));
    let shared = format!(
        "{target}: {} test(s){example} did not pass taken out of their program or beside others, and pass the way the \
         framework runs them: they share something, a directory, a port or an order",
        tests.len()
    );
    match division {
        Division::Free => shared,
        Division::OneProcess => format!(
            "{shared}. From now on the tests of {target} run in one process with nothing beside; \
             `undivided = [\"{target}\"]` in fewer.toml says so in every checkout"
        ),
        Division::OwnWay => format!("{shared}. From now on {target} runs just as the framework runs it"),
    }
}

fn key(target: &str) -> Digest {
    Digest::of(PROGRAM, target.as_bytes())
}

fn word(division: Division) -> &'static str {
    match division {
        Division::Free => "free",
        Division::OneProcess => "one-process",
        Division::OwnWay => "own-way",
    }
}

fn from_word(bytes: &[u8]) -> Option<Division> {
    [Division::Free, Division::OneProcess, Division::OwnWay]
        .into_iter()
        .find(|division| word(*division).as_bytes() == bytes)
}
