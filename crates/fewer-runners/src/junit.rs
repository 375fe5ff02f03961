//! JUnit's XML, as CTest, Surefire, Gradle, JUnit's own launcher and nextest write it. What the results mean is told by those
//! who read them.

use std::io;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesStart, Event};

/// One `<testcase>`.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct JunitCase {
    pub(crate) class_name: String,
    pub(crate) name: String,
    /// CTest's own word: `run`, `fail`, `notrun` or `disabled`.
    pub(crate) status: String,
    pub(crate) duration_s: f64,
    pub(crate) finding: Option<Finding>,
    /// What kind of failure its writer calls it. Example: `test timeout`.
    pub(crate) kind: String,
    /// The failures before a pass.
    pub(crate) earlier: Vec<EarlierTry>,
    /// Of `<failure>`, `<error>` or `<skipped>`.
    pub(crate) message: Option<String>,
    /// The text in it: where it happened.
    pub(crate) detail: String,
    pub(crate) output: String,
}

/// One `<flakyFailure>`.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct EarlierTry {
    pub(crate) kind: String,
    pub(crate) duration_s: f64,
    pub(crate) message: Option<String>,
    pub(crate) detail: String,
}

/// What is said of a case that did not simply pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    Failed,
    Skipped,
}

/// Which element's text is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Output,
    Detail,
    /// Of the last earlier try.
    Earlier,
    Other,
}

/// The largest report that is read, and the most tags in one: tests may write more than fits into memory.
pub(crate) const LARGEST: u64 = 64 << 20;
const MOST_TAGS: usize = 1 << 20;

/// All cases of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<JunitCase>, quick_xml::Error> {
    let bytes = fewer_files::read_at_most(path, LARGEST)?;
    parse(&String::from_utf8_lossy(&bytes))
}

/// All cases in the order of the file. A file that ends too early is an error.
pub(crate) fn parse(text: &str) -> Result<Vec<JunitCase>, quick_xml::Error> {
    if memchr::memchr_iter(b'<', text.as_bytes()).count() > MOST_TAGS {
        return Err(io::Error::other(format!("it holds more than {MOST_TAGS} tags")).into());
    }
    let mut reader = Reader::from_str(text);
    let mut cases: Vec<JunitCase> = Vec::new();
    let mut within = Within::Other;
    let (mut open, mut is_whole) = (0usize, false);
    // How many elements were open before one that tells of another try: what it holds is not the case's own.
    let mut other_try = None;
    loop {
        match reader.read_event()? {
            // The reader itself does not mind elements that are still open.
            Event::Eof if is_whole => return Ok(cases),
            Event::Eof => return Err(IllFormedError::MissingEndTag("testsuite".to_string()).into()),
            Event::Start(tag) => {
                let name = tag.name();
                if AGAIN.contains(&name.as_ref()) {
                    other_try = Some(open);
                }
                open += 1;
                is_whole = false;
                within = match name.as_ref() {
                    "flakyFailure" | "flakyError" => Within::Earlier,
                    _ if other_try.is_some() => Within::Other,
                    "system-out" | "system-err" => Within::Output,
                    "failure" | "error" => Within::Detail,
                    _ => Within::Other,
                };
                opened(&tag, &mut cases)?;
            }
            Event::Empty(tag) => {
                is_whole |= open == 0;
                opened(&tag, &mut cases)?;
            }
            Event::End(_) => {
                within = Within::Other;
                open = open.saturating_sub(1);
                other_try = other_try.filter(|&before| open > before);
                is_whole = open == 0;
            }
            Event::Text(text) => add(within, &text, &mut cases),
            Event::CData(text) => add(within, &text, &mut cases),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let resolved = resolve_xml_entity(name).map(str::to_string);
                let resolved = resolved.or(reference.resolve_char_ref()?.map(String::from));
                add(within, resolved.as_deref().unwrap_or(name), &mut cases);
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// Elements that tell of other tries than the one that counts.
const AGAIN: [&str; 4] = ["flakyFailure", "flakyError", "rerunFailure", "rerunError"];

fn opened(tag: &BytesStart<'_>, cases: &mut Vec<JunitCase>) -> Result<(), quick_xml::Error> {
    let finding = match tag.name().as_ref() {
        "testcase" => {
            cases.push(JunitCase {
                class_name: attribute(tag, "classname")?.unwrap_or_default(),
                name: attribute(tag, "name")?.unwrap_or_default(),
                status: attribute(tag, "status")?.unwrap_or_default(),
                duration_s: attribute(tag, "time")?.and_then(|time| seconds(&time)).unwrap_or(0.0),
                ..JunitCase::default()
            });
            return Ok(());
        }
        "failure" | "error" => Some(Finding::Failed),
        "skipped" => Some(Finding::Skipped),
        "flakyFailure" | "flakyError" => None,
        _ => return Ok(()),
    };
    let message = attribute(tag, "message")?.filter(|message| !message.trim().is_empty());
    let kind = attribute(tag, "type")?.unwrap_or_default();
    let Some(case) = cases.last_mut() else { return Ok(()) };
    if finding.is_none() {
        let duration_s = attribute(tag, "time")?.and_then(|time| seconds(&time)).unwrap_or(0.0);
        case.earlier.push(EarlierTry { kind, duration_s, message, detail: String::new() });
        return Ok(());
    }
    (case.finding, case.message, case.kind) = (finding, message, kind);
    Ok(())
}

/// Some writers group thousands: `1,234.5`.
fn seconds(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, quick_xml::Error> {
    match tag.try_get_attribute(name)? {
        Some(attribute) => Ok(Some(unescape(&attribute.value)?.into_owned())),
        None => Ok(None),
    }
}

fn add(within: Within, text: &str, cases: &mut [JunitCase]) {
    let Some(case) = cases.last_mut() else { return };
    match within {
        Within::Output => case.output.push_str(text),
        Within::Detail => case.detail.push_str(text),
        Within::Earlier => {
            case.earlier.last_mut().into_iter().for_each(|earlier| earlier.detail.push_str(text))
        }
        Within::Other => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_millions_of_elements_is_refused() {
        for nested in ["<a>", "<testcase/>", "<testcase name='a'>"] {
            let text = format!("<testsuite>{}", nested.repeat(2_000_000));
            assert!(parse(&text).unwrap_err().to_string().contains("more than 1048576 tags"), "{nested}");
        }
        let entities = format!(
            "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuite><testcase name='n'/>{}</testsuite>",
            "&b;".repeat(1_000_000)
        );
        assert_eq!(parse(&entities).unwrap().len(), 1);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.xml");
        std::fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("is larger than 64 MB"));
    }

    #[test]
    fn escapes_are_resolved_in_names_messages_and_output() {
        let cases = parse(
            r#"<?xml version="1.0"?><testsuite name="(empty)" tests="2">
                <testcase name="a &lt;b&gt; &quot;c&quot;" classname="x" time="1.5" status="fail">
                    <failure message="1 &lt; 2"><![CDATA[at x]]></failure>
                    <properties/><system-out>x &amp; y&#10;&lt;z&gt;
</system-out>
                </testcase>
                <testcase name="d" time="0" status="run"><system-out></system-out></testcase>
            </testsuite>"#,
        )
        .unwrap();
        assert_eq!(cases[0].name, "a <b> \"c\"");
        assert_eq!((cases[0].status.as_str(), cases[0].duration_s), ("fail", 1.5));
        assert_eq!((cases[0].message.as_deref(), cases[0].detail.as_str()), (Some("1 < 2"), "at x"));
        assert_eq!((cases[0].finding, cases[0].output.as_str()), (Some(Finding::Failed), "x & y\n<z>\n"));
        assert_eq!(cases[1], JunitCase { name: "d".into(), status: "run".into(), ..JunitCase::default() });
    }

    #[test]
    fn a_failure_that_passed_when_it_was_tried_again_is_none() {
        let cases = parse(
            r#"<testsuite><testcase name="a" classname="p.C" time="1,000.5"><flakyFailure message="m"/></testcase>
               <testcase name="b" classname="p.C"><skipped/></testcase></testsuite>"#,
        )
        .unwrap();
        assert_eq!((cases[0].finding, cases[0].duration_s), (None, 1000.5));
        assert_eq!(cases[0].earlier[0].message.as_deref(), Some("m"));
        assert_eq!(cases[1].finding, Some(Finding::Skipped));
    }

    #[test]
    fn what_other_tries_printed_is_not_the_output_of_the_one_that_counts() {
        let cases = parse(
            r#"<testsuite><testcase name="a"><flakyFailure type="test abort" time="0.5">why<system-out>x</system-out>
               </flakyFailure><system-out>y</system-out></testcase>
               <testcase name="b"><failure type="test timeout"/><rerunFailure><system-out>x</system-out></rerunFailure>
               <system-out>z</system-out></testcase></testsuite>"#,
        )
        .unwrap();
        assert_eq!((cases[0].output.as_str(), cases[1].output.as_str()), ("y", "z"));
        let earlier = &cases[0].earlier[0];
        assert_eq!(
            (earlier.kind.as_str(), earlier.detail.trim(), earlier.duration_s),
            ("test abort", "why", 0.5)
        );
        assert_eq!((cases[1].kind.as_str(), cases[1].earlier.len()), ("test timeout", 0));
    }

    #[test]
    fn damaged_reports_are_errors_and_nothing_worse() {
        let whole = r#"<?xml version="1.0"?><testsuites><testsuite name="p.C" tests="2" time="0.1"><properties/>
            <testcase name="a" classname="p.C" time="NaN"/><!-- é --><testcase name="b&#10;" classname="p.C" time="1">
            <failure message="1 &lt; 2" type="E"><![CDATA[at p.C]]></failure><system-out>x &amp; y</system-out>
            </testcase></testsuite></testsuites>"#;
        let durations: Vec<f64> = parse(whole).unwrap().iter().map(|case| case.duration_s).collect();
        assert_eq!(durations, [0.0, 1.0]);
        for (end, _) in whole.char_indices() {
            assert!(parse(&whole[..end]).is_err(), "cut off after {end} bytes");
        }
        assert!(parse("<testsuite><testcase name=\"a\"></testsuite>").is_err());
        for position in 0..whole.len() {
            for byte in [0, b'"', b'<', b'>', b'/', b'&', b'!', b']', 0xC3, 0xFF] {
                let mut damaged = whole.as_bytes().to_vec();
                damaged[position] = byte;
                // Either an error or cases; names and messages may differ.
                let cases = parse(&String::from_utf8_lossy(&damaged)).unwrap_or_default();
                assert!(cases.iter().all(|case| case.duration_s.is_finite()));
            }
        }
    }
}
