//! Names for people: demangled elements, and tests found by any unambiguous end of their id.

use anyhow::bail;
use fewer_console::shown_name;
use fewer_core::{ElementChange, Explanation, Plan, PlannedTest, Reason, TestId};
use fewer_objects::{demangled, rust_name};

/// Longer names are cut: template arguments can fill pages.
const LONGEST: usize = 200;

/// Part of the names that rustc gives to constants without one.
const UNNAMED: &str = ".Lanon.";

/// An element's name as people know it. Example: `lexer.o:_ZN5Lexer4nextEv` is `Lexer::next() (lexer.o)`.
pub fn readable(name: &str) -> String {
    let (object, symbol) = split(name);
    let mut text = demangled(symbol);
    if text.chars().count() > LONGEST {
        text = text.chars().take(LONGEST).chain("...".chars()).collect();
    }
    match object {
        // The path of a Rust item says where it is; its object is one of many with names that nobody gave.
        Some(_) if rust_name(symbol).is_some() => text,
        Some(object) if symbol.contains(UNNAMED) => format!("an unnamed constant ({})", rust_unit(object)),
        Some(object) => format!("{text} ({object})"),
        None => text,
    }
}

/// What rustc made an object for. Example: `tool/bin/tool` of `tool/bin/tool/380rba2s3l9.o`, `deps/libengine-1f2e.rlib`
/// of `deps/libengine-1f2e.rlib(engine-1f2e.engine.0.rcgu.o)`.
fn rust_unit(object: &str) -> &str {
    let unit = object.split_once('(').or_else(|| object.rsplit_once('/'));
    unit.map_or(object, |(unit, _)| unit)
}

/// The object, where the name has one, and the symbol.
pub fn split(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once(':') {
        Some((object, symbol))
            if [".o", ".lo", ".obj", ".bc", ")"].iter().any(|end| object.ends_with(end)) =>
        {
            (Some(object), symbol)
        }
        Some(_) | None => (None, name),
    }
}

/// The explanation with names for people.
pub fn readable_explanation(explanation: &Explanation) -> Explanation {
    Explanation {
        path: explanation.path.iter().map(|name| readable(name)).collect(),
        changed: explanation
            .changed
            .iter()
            .map(|change| ElementChange { name: readable(&change.name), kind: change.kind })
            .collect(),
        changed_left_out: explanation.changed_left_out,
    }
}

/// The test with a reason for people.
pub fn readable_test(test: &PlannedTest) -> PlannedTest {
    let mut test = test.clone();
    if let Reason::Changed { because: Some(because), .. } = &mut test.reason {
        *because = readable_explanation(because);
    }
    test
}

pub fn readable_plan(plan: &Plan) -> Plan {
    Plan { tests: plan.tests.iter().map(readable_test).collect() }
}

/// The one test that a text names; an error with the candidates where it is none or several.
pub fn resolve<'t>(tests: &'t [PlannedTest], text: &str) -> anyhow::Result<&'t PlannedTest> {
    let is_called_so = |id: &str| id == text || shown_name(id) == text;
    if let Some(test) = tests.iter().find(|test| is_called_so(&test.id.to_string())) {
        return Ok(test);
    }
    let found: Vec<&PlannedTest> = tests.iter().filter(|test| test.id.matches_suffix(text)).collect();
    match found.as_slice() {
        [test] => Ok(test),
        [] => {
            let similar = similar(tests, text);
            if similar.is_empty() {
                bail!("no test is called '{text}': `fewer select --all` lists all tests");
            }
            bail!("no test is called '{text}'. Did you mean one of these?\n{}", lines(&similar));
        }
        several => {
            let ids: Vec<&TestId> = several.iter().map(|test| &test.id).collect();
            bail!("'{text}' names {} tests; give more of the id:\n{}", ids.len(), lines(&ids));
        }
    }
}

fn similar<'t>(tests: &'t [PlannedTest], text: &str) -> Vec<&'t TestId> {
    let wanted = text.to_lowercase();
    tests.iter().map(|test| &test.id).filter(|id| id.to_string().to_lowercase().contains(&wanted)).collect()
}

fn lines(ids: &[&TestId]) -> String {
    let mut lines: Vec<String> = ids.iter().take(20).map(|id| format!("  {id}")).collect();
    if ids.len() > 20 {
        lines.push(format!("  and {} more", ids.len() - 20));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_called_by_their_demangled_names() {
        for (name, expected) in [
            ("src/lexer.cpp.o:_ZN5Lexer4nextEv", "Lexer::next() (src/lexer.cpp.o)"),
            ("_ZN5Lexer4nextEv", "Lexer::next()"),
            ("compiler GCC: (Debian 12.2.0) 12.2.0", "compiler GCC: (Debian 12.2.0) 12.2.0"),
            ("lib.a(x.o):main", "main (lib.a(x.o))"),
            ("file testdata/a:b.txt", "file testdata/a:b.txt"),
            ("tool/380rba2s3l9.o:_ZN6engine5chain17h7ac6a26bfd502e37E", "engine::chain"),
            ("tool/380rba2s3l9.o:.data.rel.ro..Lanon.9cfc.1", "an unnamed constant (tool)"),
        ] {
            assert_eq!(readable(name), expected);
        }
    }
}
