//! The rules of architecture.toml. Figures there are ceilings that may only fall: one that could be lower is to be lowered.

use std::fmt::Display;

use fewer_architecture::imports::Imports;
use fewer_architecture::manifests::{crates, dependencies};
use fewer_architecture::names::{patterns, twice, words_outside};
use fewer_architecture::rules::Rules;
use fewer_architecture::source::Source;
use fewer_architecture::top;

/// How many places a failure lists.
const SHOWN: usize = 200;

/// What is wrong with a figure, if anything.
fn compared(
    what: &str,
    found: usize,
    ceiling: usize,
    places: impl Iterator<Item = impl Display>,
) -> Option<String> {
    if found < ceiling {
        return Some(format!("{what}: {found} now, lower the ceiling of {ceiling} in architecture.toml"));
    }
    let places: String = places.take(SHOWN).map(|place| format!("\n  {place}")).collect();
    (found > ceiling).then(|| format!("{what}: {found}, but no more than {ceiling} are allowed{places}"))
}

#[track_caller]
fn assert_kept(wrong: impl Iterator<Item = String>) {
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn all_sources() -> Vec<Source> {
    crates(top()).iter().flat_map(|name| Source::of_crate(top(), name)).collect()
}

#[test]
fn crates_depend_on_those_below_them_only() {
    let rules = Rules::read(top());
    assert_kept(crates(top()).into_iter().filter_map(|name| {
        let Some(allowed) = rules.depends.get(&name) else {
            return Some(format!("{name} is not in [depends] of architecture.toml"));
        };
        let used = dependencies(top(), &name);
        let wrong: Vec<&String> = used.iter().filter(|used| !allowed.contains(used)).collect();
        (!wrong.is_empty()).then(|| format!("crates/{name}/Cargo.toml: may not depend on {wrong:?}"))
    }));
}

#[test]
fn circles_of_modules_do_not_grow() {
    let rules = Rules::read(top());
    assert_kept(crates(top()).into_iter().filter_map(|name| {
        let imports = Imports::of(&Source::of_crate(top(), &name));
        let circle = imports.largest_circle();
        let ceiling = rules.circle.get(&name).copied().unwrap_or(0);
        compared(&format!("modules of {name} in a circle"), circle.len(), ceiling, imports.within(&circle))
    }));
}

#[test]
fn words_of_languages_and_frameworks_stay_in_their_rooms() {
    let (rules, sources) = (Rules::read(top()), all_sources());
    assert_kept(rules.words.iter().filter_map(|(name, rule)| {
        let rooms = rule.rooms.iter().filter(|room| !top().join(room).exists());
        let gone: Vec<&String> = rooms.collect();
        assert!(gone.is_empty(), "architecture.toml: {gone:?} of {name} are gone");
        let outside = words_outside(&sources, &rule.words, &rule.rooms);
        compared(
            &format!("lines with words of {name} outside of its rooms"),
            outside.len(),
            rule.outside,
            outside.iter(),
        )
    }));
}

#[test]
fn only_an_enums_own_file_looks_into_it() {
    let (rules, sources) = (Rules::read(top()), all_sources());
    assert_kept(rules.patterns.iter().filter_map(|(name, rule)| {
        assert!(top().join(&rule.home).exists(), "architecture.toml: {} is gone", rule.home);
        let outside = patterns(&sources, name, &rule.home);
        compared(
            &format!("patterns over {name} outside of {}", rule.home),
            outside.len(),
            rule.outside,
            outside.iter(),
        )
    }));
}

#[test]
fn one_name_is_one_public_type() {
    let rules = Rules::read(top());
    let twice = twice(&all_sources());
    let shown = twice.iter().map(|(name, places)| {
        let places: Vec<String> = places.iter().map(ToString::to_string).collect();
        format!("{name}: {}", places.join(", "))
    });
    assert_kept(compared("names of several public types", twice.len(), rules.names.twice, shown).into_iter());
}
