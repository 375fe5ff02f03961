//! The file that `ctest --output-junit` leaves. What its results mean is told in `run`.

use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesStart, Event};

/// One `<testcase>`.
#[derive(Default, PartialEq, Debug)]
pub(super) struct JunitCase {
    pub(super) name: String,
    /// `run`, `fail`, `notrun` or `disabled`.
    pub(super) status: String,
    pub(super) duration_s: f64,
    /// Of `<failure>` or `<skipped>`.
    pub(super) message: Option<String>,
    pub(super) output: String,
}

/// All cases in the order of the file, which is that of CTest's numbers.
pub(super) fn parse(text: &str) -> Result<Vec<JunitCase>, quick_xml::Error> {
    let mut reader = Reader::from_str(text);
    let mut cases: Vec<JunitCase> = Vec::new();
    let mut in_output = false;
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(cases),
            Event::Start(tag) => {
                in_output = tag.name().as_ref() == "system-out";
                opened(&tag, &mut cases)?;
            }
            Event::Empty(tag) => opened(&tag, &mut cases)?,
            Event::End(_) => in_output = false,
            Event::Text(text) => add_output(in_output, &text, &mut cases),
            Event::CData(text) => add_output(in_output, &text, &mut cases),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let resolved = resolve_xml_entity(name).map(str::to_string);
                let resolved = resolved.or(reference.resolve_char_ref()?.map(String::from));
                add_output(in_output, resolved.as_deref().unwrap_or(name), &mut cases);
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn opened(tag: &BytesStart<'_>, cases: &mut Vec<JunitCase>) -> Result<(), quick_xml::Error> {
    match tag.name().as_ref() {
        "testcase" => cases.push(JunitCase {
            name: attribute(tag, "name")?.unwrap_or_default(),
            status: attribute(tag, "status")?.unwrap_or_default(),
            duration_s: attribute(tag, "time")?.and_then(|time| time.parse().ok()).unwrap_or(0.0),
            ..JunitCase::default()
        }),
        "failure" | "skipped" => {
            let message = attribute(tag, "message")?.filter(|message| !message.trim().is_empty());
            if let Some(case) = cases.last_mut() {
                case.message = message;
            }
        }
        _ => {}
    }
    Ok(())
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, quick_xml::Error> {
    match tag.try_get_attribute(name)? {
        Some(attribute) => Ok(Some(unescape(&attribute.value)?.into_owned())),
        None => Ok(None),
    }
}

fn add_output(in_output: bool, text: &str, cases: &mut [JunitCase]) {
    if let (true, Some(case)) = (in_output, cases.last_mut()) {
        case.output.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_in_names_messages_and_output() {
        let cases = parse(
            r#"<?xml version="1.0"?><testsuite name="(empty)" tests="2">
                <testcase name="a &lt;b&gt; &quot;c&quot;" classname="x" time="1.5" status="fail">
                    <failure message="1 &lt; 2"/>
                    <properties/><system-out>x &amp; y&#10;&lt;z&gt;
</system-out>
                </testcase>
                <testcase name="d" time="0" status="run"><system-out></system-out></testcase>
            </testsuite>"#,
        )
        .unwrap();
        assert_eq!(cases[0].name, "a <b> \"c\"");
        assert_eq!((cases[0].status.as_str(), cases[0].duration_s), ("fail", 1.5));
        assert_eq!(cases[0].message.as_deref(), Some("1 < 2"));
        assert_eq!(cases[0].output, "x & y\n<z>\n");
        assert_eq!(cases[1], JunitCase { name: "d".into(), status: "run".into(), ..JunitCase::default() });
    }

    #[test]
    fn a_cut_off_file_is_an_error() {
        assert!(parse("<testsuite><testcase name=\"a\"></testsuite>").is_err());
    }
}
