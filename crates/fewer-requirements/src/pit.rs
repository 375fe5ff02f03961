//! PIT: `mutations.xml` with the full mutation matrix (who kills which mutant) and `linecoverage.xml` (who covers
//! which block of code).

use std::collections::{BTreeMap, BTreeSet};

use fewer_core::reduction::RequirementKind;

use crate::error::Problem;
use crate::findings::Findings;
use crate::xml::{self, Piece, Text};

/// The killed mutants. Without the full matrix PIT stops at the first test that kills a mutant, which says nothing
/// about the others; such a file is refused.
pub(crate) fn parse_mutations(bytes: &[u8]) -> Result<Findings, Problem> {
    let mut findings = Findings::new(RequirementKind::Mutants);
    let mut mutant: BTreeMap<String, Text> = BTreeMap::new();
    let mut numbers: Vec<String> = Vec::new();
    let mut is_report = false;
    xml::walk(bytes, "a mutation report of PIT", |piece| {
        match piece {
            Piece::Open(tag) => match tag.name().as_str() {
                "mutations" => is_report = true,
                "mutation" => {
                    mutant.clear();
                    numbers.clear();
                }
                _ => {}
            },
            Piece::Close(text) if text.name == "mutation" => {
                killed(&mut findings, &mutant, &numbers, text.line)?
            }
            Piece::Close(text) if text.name == "index" || text.name == "block" => numbers.push(text.text),
            Piece::Close(text) => drop(mutant.insert(text.name.clone(), text)),
        }
        Ok(())
    })?;
    report(findings, is_report, "a mutation report of PIT (<mutations>) with mutants that tests ran against")
}

fn killed(
    findings: &mut Findings,
    mutant: &BTreeMap<String, Text>,
    numbers: &[String],
    line: u64,
) -> Result<(), Problem> {
    let field = |name: &str| -> Result<&str, Problem> {
        let text = mutant.get(name).map(|text| text.text.as_str());
        text.ok_or_else(|| Problem::at(line, format!("<{name}> in <mutation>"), "none"))
    };
    let Some(killing) = mutant.get("killingTests") else {
        return Err(Problem::at(
            line,
            "<killingTests>, which PIT writes with -DfullMutationMatrix=true -DoutputFormats=XML",
            if mutant.contains_key("killingTest") {
                "<killingTest>: only the first test that kills"
            } else {
                "none"
            },
        ));
    };
    let succeeding = mutant.get("succeedingTests").map_or("", |text| text.text.as_str());
    for test in killing.text.split('|').chain(succeeding.split('|')).filter(|test| !test.is_empty()) {
        findings.test(&java_test(test));
    }
    if killing.text.is_empty() {
        return Ok(());
    }
    let name = format!(
        "{}:{} {} [{}] in {}{}",
        field("mutatedClass")?,
        field("lineNumber")?,
        field("mutator")?.rsplit('.').next().unwrap_or_default(),
        numbers.join(" "),
        field("mutatedMethod")?,
        field("methodDescription")?,
    );
    let requirement = findings.requirement(&name);
    for test in killing.text.split('|').filter(|test| !test.is_empty()) {
        findings.satisfied(&java_test(test), requirement);
    }
    Ok(())
}

/// The covered blocks; those of the test classes themselves say nothing and are left out.
pub(crate) fn parse_line_coverage(bytes: &[u8]) -> Result<Findings, Problem> {
    let mut blocks: Vec<(String, String, Vec<String>)> = Vec::new();
    let mut is_report = false;
    xml::walk(bytes, "the line coverage of PIT", |piece| {
        if let Piece::Open(tag) = piece {
            match tag.name().as_str() {
                "coverage" => is_report = true,
                "block" => {
                    let class = tag.required("classname")?;
                    let name = format!("{class}:{} block {}", tag.required("method")?, tag.number("number")?);
                    blocks.push((class, name, Vec::new()));
                }
                "test" => match blocks.last_mut() {
                    Some((_, _, tests)) => tests.push(java_test(&tag.required("name")?)),
                    None => return Err(Problem::at(tag.line, "<test> in a <block>", "one outside")),
                },
                _ => {}
            }
        }
        Ok(())
    })?;
    let of_tests: BTreeSet<String> = blocks
        .iter()
        .flat_map(|(_, _, tests)| tests)
        .map(|test| outermost(class_of(test)).to_string())
        .collect();
    let mut findings = Findings::new(RequirementKind::Statements);
    for (class, name, tests) in &blocks {
        let is_own = of_tests.contains(outermost(class));
        let requirement = (!is_own).then(|| findings.requirement(name));
        for test in tests {
            findings.test(test);
            if let Some(requirement) = requirement {
                findings.satisfied(test, requirement);
            }
        }
    }
    report(findings, is_report, "the line coverage of PIT (<coverage>, -DexportLineCoverage=true) with tests")
}

fn report(findings: Findings, is_report: bool, expected: &str) -> Result<Findings, Problem> {
    match (is_report, findings.is_empty()) {
        (true, false) => Ok(findings),
        (true, true) => Err(Problem::whole(expected, "a report without any test")),
        (false, _) => Err(Problem::whole(expected, "another document")),
    }
}

/// A test of PIT as JUnit people write it: invocations of a method are one test.
///
/// Example: `shop.CartTest.[engine:junit-jupiter]/[class:shop.CartTest]/[method:addsUp()]` is `shop.CartTest#addsUp`.
fn java_test(name: &str) -> String {
    if let Some((class, rest)) = name.split_once(".[") {
        let method = rest.split("]/[").filter_map(|segment| {
            let (kind, value) = segment.trim_matches(['[', ']']).split_once(':')?;
            matches!(kind, "method" | "test-template" | "test-factory" | "test").then_some(value)
        });
        return match method.last() {
            Some(method) => format!("{class}#{}", bare(method)),
            None => class.to_string(),
        };
    }
    // JUnit 4: `shop.OldTest.adds(shop.OldTest)`.
    if let Some((path, class)) = name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        let method = path.strip_prefix(class).and_then(|method| method.strip_prefix('.'));
        return format!("{class}#{}", bare(method.unwrap_or(path)));
    }
    name.to_string()
}

/// Without parameters and invocation numbers.
fn bare(method: &str) -> &str {
    method.split(['(', '[']).next().unwrap_or(method)
}

fn class_of(test: &str) -> &str {
    test.split('#').next().unwrap_or(test)
}

fn outermost(class: &str) -> &str {
    class.split('$').next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_junit() {
        for (name, expected) in [
            (
                "shop.CartTest.[engine:junit-jupiter]/[class:shop.CartTest]/[method:addsUp()]",
                "shop.CartTest#addsUp",
            ),
            (
                "shop.CartTest.[engine:junit-jupiter]/[class:shop.CartTest]/[test-template:keeps(int)]/[test-template-invocation:#2]",
                "shop.CartTest#keeps",
            ),
            ("a.OldTest.[engine:junit-vintage]/[runner:a.OldTest]/[test:x[0](a.OldTest)]", "a.OldTest#x"),
            ("a.OldTest.adds(a.OldTest)", "a.OldTest#adds"),
            ("a.OldTest", "a.OldTest"),
        ] {
            assert_eq!(java_test(name), expected);
        }
    }

    #[test]
    fn a_report_without_the_full_matrix_is_refused_with_what_to_do() {
        let text = b"<mutations>\n<mutation status='KILLED'><mutatedClass>A</mutatedClass>\n<killingTest>t</killingTest></mutation></mutations>";
        let error = parse_mutations(text).unwrap_err().to_string();
        assert!(
            error.starts_with(":3: expected <killingTests>") && error.contains("fullMutationMatrix"),
            "{error}"
        );
    }
}
