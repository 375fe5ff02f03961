//! Pairs of modules whose content must be equal, or must not, made by every compiler there is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fewer_core::Digest;
use fewer_objects::bitcode::read_bitcode;
use fewer_objects::summary::Reference;
use rayon::prelude::*;
use serde::Deserialize;

use crate::compilers::{CLANGS, Language, compile};

#[derive(Deserialize)]
struct Pairs {
    pair: Vec<Pair>,
}

/// Two modules, and what holds between them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    name: String,
    language: Language,
    expect: Expected,
    /// The element that is compared; `*` for all that both have.
    watch: String,
    #[serde(default)]
    flags: String,
    #[serde(default)]
    before_flags: String,
    #[serde(default)]
    after_flags: String,
    /// Of the text: only a compiler with typed pointers reads it.
    pointers: Option<Pointers>,
    before: String,
    /// The same text again, if there is none.
    after: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Same,
    Different,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Pointers {
    Typed,
}

#[test]
fn content_changes_with_what_matters_and_with_nothing_else() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cpp/bitcode/pairs.toml");
    let pairs: Pairs = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(pairs.pair.len() >= 140, "only {} pairs: some are gone", pairs.pair.len());
    let directory = tempfile::tempdir().unwrap();
    let cases: Vec<(usize, &Pair, &str)> = pairs
        .pair
        .iter()
        .enumerate()
        .flat_map(|(index, pair)| {
            compilers(index, pair).into_iter().map(move |compiler| (index, pair, compiler))
        })
        .collect();
    let failures: Vec<String> = cases
        .par_iter()
        .filter_map(|&(index, pair, compiler)| {
            let place = directory.path().join(index.to_string()).join(compiler);
            check(pair, compiler, &place).err().map(|why| format!("{} ({compiler}): {why}", pair.name))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// The oldest and the newest clang for every pair; those between them take turns.
fn compilers(index: usize, pair: &Pair) -> Vec<&'static str> {
    let [oldest, between @ .., newest] = CLANGS;
    match (pair.language, pair.pointers) {
        (Language::Rust, _) => vec!["rustc"],
        (Language::C | Language::Cpp | Language::Ir, Some(Pointers::Typed)) => vec![oldest],
        (Language::C | Language::Cpp | Language::Ir, None) => {
            vec![oldest, between[index % between.len()], newest]
        }
    }
}

fn check(pair: &Pair, compiler: &str, directory: &Path) -> Result<(), String> {
    let flags = |own: &str| {
        let flags = format!("{} {own}", pair.flags);
        flags.split_whitespace().map(str::to_string).collect::<Vec<String>>()
    };
    let contents = |place: &str, text: &str, own: &str| {
        let flags = flags(own);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let path = compile(compiler, pair.language, text, &flags, &directory.join(place))?;
        named_contents(&path)
    };
    let before = contents("before", &pair.before, &pair.before_flags)?;
    let after = contents("after", pair.after.as_ref().unwrap_or(&pair.before), &pair.after_flags)?;
    let watched: Vec<&String> = match pair.watch.as_str() {
        "*" => before.keys().filter(|name| after.contains_key(*name)).collect(),
        name => before.keys().filter(|known| *known == name && after.contains_key(*known)).collect(),
    };
    if watched.is_empty() {
        return Err(format!("there is no {} among {:?} and {:?}", pair.watch, before.keys(), after.keys()));
    }
    let changed: Vec<&&String> = watched.iter().filter(|name| before[**name] != after[**name]).collect();
    match pair.expect {
        Expected::Same if !changed.is_empty() => Err(format!("changed: {changed:?}")),
        Expected::Different if changed.is_empty() => Err("nothing changed".to_string()),
        Expected::Same | Expected::Different => Ok(()),
    }
}

/// What an element is: its content, and the entries of a virtual table, which are no part of that.
type Told = (Digest, Vec<String>);

/// What every element that has a symbol is.
fn named_contents(path: &Path) -> Result<BTreeMap<String, Told>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let summary = read_bitcode(&bytes);
    if !summary.notes.is_empty() {
        return Err(summary.notes.join("; "));
    }
    let entries = |element: u32| {
        let name = |reference: &Reference| match *reference {
            Reference::Symbol(symbol) => String::from_utf8_lossy(summary.symbol_name(symbol)).into_owned(),
            Reference::Element(_) | Reference::Common(_) => String::new(),
        };
        let mut names: Vec<String> = summary.references_of(element).iter().map(name).collect();
        names.retain(|name| name.starts_with("virtual entry "));
        names.sort();
        names
    };
    let defined = summary.symbols.iter().filter(|symbol| (symbol.element as usize) < summary.elements.len());
    Ok(defined
        .map(|symbol| {
            let name = String::from_utf8_lossy(summary.name(symbol.name)).into_owned();
            (name, (summary.elements[symbol.element as usize].content, entries(symbol.element)))
        })
        .collect())
}
