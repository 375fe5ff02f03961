//! JUnit XML for CI systems: one suite per target, every test of the plan in it; a test class with what it is made of.
//! Reused tests are passes with a mark that says where they passed; tests that are left out are skipped.

use std::collections::BTreeMap;
use std::io;

use fewer_core::{Decision, PlannedTest, Reason, RecordedOutcome, TestId, Verdict};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::view::{CaseView, ProcessFailureView, ResultView, RunView};

/// The document of one run.
pub fn junit_xml(view: &RunView<'_>) -> Vec<u8> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, view).expect("writing to memory does not fail");
    let mut document = writer.into_inner();
    document.push(b'\n');
    document
}

type Xml = Writer<Vec<u8>>;

/// One `<testcase>`, decided.
enum Case<'a> {
    Passed,
    Reused(&'a RecordedOutcome),
    Failed(&'a ResultView),
    Inconclusive(&'a ResultView),
    Skipped(String),
}

/// A target with its tests, decided.
struct Suite<'a> {
    target: &'a str,
    cases: Vec<(&'a PlannedTest, Case<'a>)>,
    processes: Vec<&'a ProcessFailureView>,
    results: &'a BTreeMap<TestId, ResultView>,
}

/// What a suite, or all of them, count.
#[derive(Clone, Copy, Default)]
struct Tally {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

fn write(xml: &mut Xml, view: &RunView<'_>) -> io::Result<()> {
    let suites = suites(view);
    let all = suites.iter().fold(Tally::default(), |sum, suite| sum.and(suite.tally()));
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut root = BytesStart::new("testsuites");
    root.push_attribute(("name", "fewer"));
    all.write(&mut root);
    root.push_attribute(("time", format!("{:.6}", view.spent_s).as_str()));
    xml.write_event(Event::Start(root))?;
    suites.iter().try_for_each(|suite| suite.write(xml))?;
    xml.write_event(Event::End(BytesEnd::new("testsuites")))
}

fn suites<'a>(view: &'a RunView<'a>) -> Vec<Suite<'a>> {
    let mut by_target: BTreeMap<&str, Vec<(&PlannedTest, Case<'_>)>> = BTreeMap::new();
    for test in &view.plan.tests {
        by_target.entry(&test.id.target).or_default().push((test, case(view, test)));
    }
    for failure in view.process_failures {
        by_target.entry(&failure.target).or_default();
    }
    let of_target = |(target, cases)| {
        let processes = view.process_failures.iter().filter(|failure| failure.target == target).collect();
        Suite { target, cases, processes, results: view.results }
    };
    by_target.into_iter().map(of_target).collect()
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        Tally {
            tests: self.tests + other.tests,
            failures: self.failures + other.failures,
            errors: self.errors + other.errors,
            skipped: self.skipped + other.skipped,
        }
    }

    fn write(self, start: &mut BytesStart<'_>) {
        let Tally { tests, failures, errors, skipped } = self;
        for (name, value) in
            [("tests", tests), ("failures", failures), ("errors", errors), ("skipped", skipped)]
        {
            start.push_attribute((name, value.to_string().as_str()));
        }
    }
}

impl Suite<'_> {
    /// What a test class is made of; nothing for other tests.
    fn parts(&self, test: &PlannedTest) -> &[CaseView] {
        self.results.get(&test.id).map_or(&[], |result| &result.cases)
    }

    fn tally(&self) -> Tally {
        let processes = self.processes.len();
        let mut tally = Tally { tests: processes, errors: processes, ..Tally::default() };
        for (test, case) in &self.cases {
            let parts = self.parts(test);
            tally.tests += parts.len().max(1);
            tally.failures += parts.iter().filter(|part| part.verdict.is_failure()).count();
            tally.skipped += parts.iter().filter(|part| part.verdict == Verdict::Skipped).count();
            match case {
                Case::Failed(_) if parts.is_empty() => tally.failures += 1,
                Case::Inconclusive(_) if parts.is_empty() => tally.errors += 1,
                Case::Skipped(_) if parts.is_empty() => tally.skipped += 1,
                Case::Passed
                | Case::Reused(_)
                | Case::Failed(_)
                | Case::Inconclusive(_)
                | Case::Skipped(_) => {}
            }
        }
        tally
    }

    fn write(&self, xml: &mut Xml) -> io::Result<()> {
        let duration_s =
            |test: &PlannedTest| self.results.get(&test.id).map_or(0.0, |result| result.duration_s);
        let time: f64 = self.cases.iter().map(|(test, _)| duration_s(test)).sum();
        let mut start = BytesStart::new("testsuite");
        start.push_attribute(("name", clean(self.target).as_str()));
        self.tally().write(&mut start);
        start.push_attribute(("time", format!("{time:.6}").as_str()));
        xml.write_event(Event::Start(start))?;
        for (test, case) in &self.cases {
            match self.parts(test) {
                [] => testcase(xml, test, case, duration_s(test))?,
                parts => parts.iter().try_for_each(|part| part_of_class(xml, part))?,
            }
        }
        self.processes.iter().try_for_each(|failure| process(xml, failure))?;
        xml.write_event(Event::End(BytesEnd::new("testsuite")))
    }
}

fn case<'a>(view: &'a RunView<'_>, test: &'a PlannedTest) -> Case<'a> {
    match (view.results.get(&test.id), &test.reason, test.decision) {
        (Some(result), _, _) => match result.verdict {
            Verdict::Passed => Case::Passed,
            Verdict::Failed | Verdict::Crashed | Verdict::TimedOut => Case::Failed(result),
            Verdict::Skipped => {
                Case::Skipped(result.message.clone().unwrap_or_else(|| "skipped by the test".to_string()))
            }
            Verdict::Excluded => Case::Skipped(result.message.clone().unwrap_or_default()),
            Verdict::Inconclusive => Case::Inconclusive(result),
        },
        (None, Reason::Passed { from }, _) => Case::Reused(from),
        (None, reason, Decision::LeftOut | Decision::Reuse) => Case::Skipped(reason.to_string()),
        (None, _, Decision::Run) => Case::Skipped("not run: the run ended before its turn".to_string()),
    }
}

fn testcase(xml: &mut Xml, test: &PlannedTest, case: &Case<'_>, duration_s: f64) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("classname", clean(&test.id.target).as_str()));
    start.push_attribute(("name", clean(&test.id.name).as_str()));
    start.push_attribute(("time", format!("{duration_s:.6}").as_str()));
    xml.write_event(Event::Start(start))?;
    match case {
        Case::Passed => {}
        Case::Reused(from) => {
            property(xml, "fewer", "reused")?;
            text_element(xml, BytesStart::new("system-out"), &reused_from(from))?;
        }
        Case::Failed(result) => blamed(xml, "failure", result)?,
        Case::Inconclusive(result) => blamed(xml, "error", result)?,
        Case::Skipped(message) => {
            let mut skipped = BytesStart::new("skipped");
            skipped.push_attribute(("message", clean(message).as_str()));
            xml.write_event(Event::Empty(skipped))?;
        }
    }
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

/// A method, as JUnit's own tools write it.
fn part_of_class(xml: &mut Xml, part: &CaseView) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("classname", clean(&part.class).as_str()));
    start.push_attribute(("name", clean(&part.name).as_str()));
    start.push_attribute(("time", format!("{:.6}", part.duration_s).as_str()));
    xml.write_event(Event::Start(start))?;
    let message = clean(part.message.as_deref().unwrap_or_default());
    if part.verdict.is_failure() {
        let mut failure = BytesStart::new("failure");
        failure.push_attribute(("message", message.as_str()));
        failure.push_attribute(("type", part.verdict.word()));
        text_element(xml, failure, &part.detail)?;
    } else if part.verdict == Verdict::Skipped {
        let mut skipped = BytesStart::new("skipped");
        skipped.push_attribute(("message", message.as_str()));
        xml.write_event(Event::Empty(skipped))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

fn blamed(xml: &mut Xml, element: &str, result: &ResultView) -> io::Result<()> {
    let first_line = result.output_tail.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let message = result.message.as_deref().unwrap_or(first_line);
    let mut start = BytesStart::new(element);
    start.push_attribute(("message", clean(message).as_str()));
    start.push_attribute(("type", result.verdict.word()));
    text_element(xml, start, &result.output_tail)
}

fn process(xml: &mut Xml, failure: &ProcessFailureView) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("classname", clean(&failure.target).as_str()));
    start.push_attribute(("name", "(process)"));
    start.push_attribute(("time", "0"));
    xml.write_event(Event::Start(start))?;
    let mut error = BytesStart::new("error");
    error.push_attribute(("message", clean(&failure.explanation).as_str()));
    error.push_attribute(("type", "process"));
    text_element(xml, error, &failure.output_tail)?;
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

fn property(xml: &mut Xml, name: &str, value: &str) -> io::Result<()> {
    xml.write_event(Event::Start(BytesStart::new("properties")))?;
    let mut property = BytesStart::new("property");
    property.push_attribute(("name", name));
    property.push_attribute(("value", value));
    xml.write_event(Event::Empty(property))?;
    xml.write_event(Event::End(BytesEnd::new("properties")))
}

fn text_element(xml: &mut Xml, start: BytesStart<'_>, text: &str) -> io::Result<()> {
    let end = start.to_end().into_owned();
    xml.write_event(Event::Start(start.borrow()))?;
    xml.write_event(Event::Text(BytesText::new(&clean(text))))?;
    xml.write_event(Event::End(end))
}

fn reused_from(from: &RecordedOutcome) -> String {
    let commit = match (&from.commit, from.dirty) {
        (Some(commit), false) => format!("commit {commit}"),
        (Some(commit), true) => format!("commit {commit} with local changes"),
        (None, _) => "a state outside of git".to_string(),
    };
    format!("reused from {commit} at {} on {}", from.at, from.machine)
}

/// Without the characters that no XML document may hold.
fn clean(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => character,
            _ => '\u{fffd}',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fewer_core::{Digest, Plan, TestId};

    use super::*;
    use crate::view::Counts;

    fn planned(id: &TestId, reason: Reason) -> PlannedTest {
        let decision = reason.decision();
        PlannedTest { id: id.clone(), decision, reason, fingerprint: Digest(1), expected_s: None }
    }

    fn failed(output: &str, cases: Vec<CaseView>) -> ResultView {
        let output_tail = output.to_string();
        ResultView { verdict: Verdict::Failed, duration_s: 0.25, output_tail, message: None, cases }
    }

    fn document(tests: Vec<PlannedTest>, results: BTreeMap<TestId, ResultView>) -> String {
        let view = RunView {
            plan: &Plan { tests },
            strategy: &crate::view::StrategyView { name: "s-star", because: String::new() },
            ranking: None,
            results: &results,
            process_failures: &[],
            notes: &[],
            timings: &[],
            counts: Counts::default(),
            spent_s: 1.0,
            saved: crate::view::SavedView::default(),
            interrupted: false,
        };
        String::from_utf8(junit_xml(&view)).unwrap()
    }

    #[test]
    fn odd_characters_in_names_and_outputs_give_a_readable_document() {
        let id = TestId::new("unit<&\"test", "Suite.Name/\"<a&b>\u{1}");
        let result = failed("\u{1b}[31mred ]]> \u{0} & \u{fffe}<end>\n", Vec::new());
        let document = document(vec![planned(&id, Reason::New)], BTreeMap::from([(id, result)]));
        assert!(!document.contains(|c: char| c.is_control() && c != '\n'), "{document}");
        assert!(document.contains("failures=\"1\""), "{document}");
        let mut reader = quick_xml::Reader::from_str(&document);
        let mut depth = 0;
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
    }

    #[test]
    fn the_document_counts_what_its_suites_count() {
        let part = |name: &str, verdict| CaseView {
            class: "demo.ShapeTest".to_string(),
            name: name.to_string(),
            verdict,
            duration_s: 0.1,
            message: None,
            detail: String::new(),
        };
        let parts = vec![
            part("one", Verdict::Passed),
            part("two", Verdict::Failed),
            part("three", Verdict::Crashed),
            part("four", Verdict::Skipped),
        ];
        let [class, test, off] =
            ["demo.ShapeTest", "Shape.Area", "Shape.Off"].map(|name| TestId::new("unit", name));
        let tests =
            vec![planned(&class, Reason::New), planned(&test, Reason::New), planned(&off, Reason::Disabled)];
        let results = BTreeMap::from([(class, failed("", parts)), (test, failed("", Vec::new()))]);
        let document = document(tests, results);
        let counts = "tests=\"6\" failures=\"3\" errors=\"0\" skipped=\"2\"";
        assert!(document.contains(&format!("<testsuites name=\"fewer\" {counts}")), "{document}");
        assert!(document.contains(&format!("<testsuite name=\"unit\" {counts}")), "{document}");
        assert_eq!(document.matches("<testcase ").count(), 6);
    }
}
