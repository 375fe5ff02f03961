//! What is missing in a compiled Java project, or makes selection coarser than it could be, each with the change that
//! mends it. It looks at what was built last and builds nothing.

use fewer_core::Mapping;
use fewer_java::{InputKind, Options};
use fewer_runners::java::{Tool, ToolCommand};
use serde::Serialize;

use super::compiled::{Compiled, SUSPECTS};
use super::inputs::build_descriptions;
use super::tool::layout;
use crate::diagnosis::{Finding, Fix, Severity, examples};
use crate::session::Session;

/// What was looked at.
#[derive(Serialize)]
pub struct Overview {
    pub tool: String,
    pub modules: usize,
    pub classes: usize,
    pub tests: usize,
}

/// What was looked at, what was found, and what else there is to say.
pub fn diagnose(
    session: &Session<'_>,
    tool: ToolCommand,
) -> anyhow::Result<(Overview, Vec<Finding>, Vec<String>)> {
    let name = match tool.tool {
        Tool::Maven => "Maven",
        Tool::Gradle => "Gradle",
        Tool::Console => "JUnit's console launcher",
    };
    let overview = |modules, classes, tests| Overview { tool: name.to_string(), modules, classes, tests };
    let is_known = layout(&session.project, &tool)?.is_some_and(|layout| !layout.modules.is_empty());
    if !is_known {
        return Ok((overview(0, 0, 0), vec![not_built(&tool)], Vec::new()));
    }
    let compiled = Compiled::read(session, tool, Options::default())?;
    let _phase = session.timings.phase("diagnose");
    let (graph, seen) = compiled.record.graph(&compiled.program);
    let tests = graph.tests().iter().filter(|test| test.id.name != SUSPECTS);
    let tests: Vec<_> = tests.collect();
    let unmapped =
        tests.iter().filter(|test| test.mapping != Mapping::Mapped).map(|test| test.id.to_string());
    let mut findings = Vec::new();
    findings.extend(tests.is_empty().then(no_tests));
    findings.extend(out_of_date(session, &compiled));
    findings.extend(finding_of(unmapped.collect(), |what| Finding {
        severity: Severity::Problem,
        id: "unmapped-tests",
        what: format!("{what} ran under names that no class has"),
        why: "they run every time, as nothing is known of what they reach",
        examples: Vec::new(),
        fix: vec![Fix {
            place: "any",
            change: "let reports name classes (no phrased class names)".to_string(),
        }],
    }));
    let computed: Vec<String> =
        seen.iter().filter(|note| note.contains("it may load any class")).cloned().collect();
    findings.extend(finding_of(computed, |what| Finding {
        severity: Severity::Advice,
        id: "computed-class-names",
        what: format!("{what} load classes by names that are computed"),
        why: "a test that reaches such a call depends on every class of the project",
        examples: Vec::new(),
        fix: vec![Fix {
            place: "any",
            change: "give class names as literals or constants where possible".to_string(),
        }],
    }));
    findings.extend(unnamed_resources(&compiled));
    findings.extend(finding_of(compiled.not_run.clone(), |what| Finding {
        severity: Severity::Advice,
        id: "other-test-runs",
        what: format!("{what} test runs of the build are not started by fewer"),
        why: "only the tests of Maven's phase `test` and of Gradle's tasks of that name are selected and run",
        examples: Vec::new(),
        fix: vec![
            Fix { place: "Maven", change: "mvn verify, after fewer run".to_string() },
            Fix { place: "Gradle", change: "start these tasks after fewer run".to_string() },
        ],
    }));
    let notes = seen.into_iter().filter(|note| !note.contains("it may load any class")).collect();
    Ok((overview(compiled.modules.len(), compiled.program.classes.len(), tests.len()), findings, notes))
}

fn not_built(tool: &ToolCommand) -> Finding {
    Finding {
        severity: Severity::Problem,
        id: "not-built",
        what: format!(
            "nothing is known yet of the modules: {} has not been run through fewer",
            tool.program.display()
        ),
        why: "class directories and class paths are told by the build tool",
        examples: Vec::new(),
        fix: vec![Fix { place: "any", change: "fewer select, once".to_string() }],
    }
}

fn no_tests() -> Finding {
    Finding {
        severity: Severity::Problem,
        id: "no-tests",
        what: "no test class was found".to_string(),
        why: "nothing can be selected",
        examples: Vec::new(),
        fix: vec![Fix {
            place: "any",
            change: "compile the tests; JUnit 3, 4, 5 and TestNG are known".to_string(),
        }],
    }
}

fn out_of_date(session: &Session<'_>, compiled: &Compiled) -> Option<Finding> {
    let (module, file) = compiled.outdated(&session.project, &build_descriptions(&session.project))?;
    Some(Finding {
        severity: Severity::Problem,
        id: "out-of-date",
        what: format!("{} is newer than what is compiled of {module}", session.project.shown(&file)),
        why: "the classes are not what the sources say",
        examples: Vec::new(),
        fix: vec![Fix { place: "any", change: "build, or leave --no-build out of `fewer run`".to_string() }],
    })
}

/// Resources that no class names count for every test of their module.
fn unnamed_resources(compiled: &Compiled) -> Option<Finding> {
    let strings =
        compiled.program.classes.iter().flat_map(|class| class.summary.texts_of(&class.summary.strings));
    let named: std::collections::HashSet<&str> =
        strings.map(|string| string.rsplit('/').next().unwrap_or(string)).collect();
    let is_unnamed = |name: &str| !named.contains(name.rsplit('/').next().unwrap_or(name));
    let mut unnamed: Vec<String> = compiled
        .program
        .inputs
        .iter()
        .filter(|input| input.kind == InputKind::Resource && is_unnamed(&input.name))
        .map(|input| input.name.clone())
        .collect();
    unnamed.sort();
    unnamed.dedup();
    finding_of(unnamed, |what| Finding {
        severity: Severity::Advice,
        id: "unnamed-resources",
        what: format!("{what} are named by no string constant of any class"),
        why: "a change to one of them runs every test of its module",
        examples: Vec::new(),
        fix: vec![Fix {
            place: "fewer.toml",
            change: "[data] files = [...] names the files that tests open".to_string(),
        }],
    })
}

/// Nothing where there are no cases; else with some of them as examples.
fn finding_of(cases: Vec<String>, finding: impl Fn(String) -> Finding) -> Option<Finding> {
    let what = cases.len().to_string();
    (!cases.is_empty()).then(|| Finding { examples: examples(cases.into_iter()), ..finding(what) })
}
