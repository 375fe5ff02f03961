//! GoogleTest's JSON: the file that `--gtest_output=json:FILE` leaves, for runs and for lists. What the results
//! mean for a shard is decided elsewhere.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use crate::junit::{self, JunitCase};

/// The suite under which GoogleTest reports failures outside of any suite (global environments).
const OUTSIDE_SUITE: &str = "NonTestSuiteFailure";

/// With more parts than this a report may not fit into memory, however small each is. A test has about ten.
const MOST_PARTS: usize = 2 << 20;

#[derive(Debug, Deserialize)]
pub(super) struct Report {
    #[serde(default, rename = "testsuites")]
    pub(super) suites: Vec<Suite>,
    /// The clock stood at the beginning of time when the program began.
    #[serde(default, rename = "timestamp", deserialize_with = "is_at_epoch")]
    pub(super) began_at_epoch: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Suite {
    pub(super) name: String,
    #[serde(default, rename = "testsuite")]
    pub(super) cases: Vec<Case>,
}

/// One test. In a list everything but the name and the parameters is absent.
#[derive(Debug, PartialEq)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) type_parameter: Option<String>,
    pub(super) value_parameter: Option<String>,
    pub(super) status: Status,
    pub(super) duration_s: f64,
    pub(super) failures: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Completed,
    Skipped,
    NotRun,
    /// Reported as completed, but never begun: a global environment skipped everything.
    NeverBegun,
}

impl Report {
    /// Reads the file's bytes, which need two repairs first. GoogleTest escapes each byte of a non-ASCII character
    /// on its own where `char` is signed (`\u00C3\u00A9` for é), and 1.12 forgets the comma before the failures
    /// outside of any suite.
    pub(super) fn parse(bytes: &[u8]) -> Result<Report, serde_json::Error> {
        if bytes.iter().filter(|byte| matches!(byte, b',' | b'{' | b'[')).count() > MOST_PARTS {
            return Err(serde_json::Error::custom("it holds more than any run of tests does"));
        }
        serde_json::from_str(&String::from_utf8_lossy(&repaired(bytes)))
    }

    /// Reads the XML of releases before 1.8.1, which write no JSON.
    pub(super) fn parse_xml(bytes: &[u8]) -> Option<Report> {
        let mut suites: Vec<Suite> = Vec::new();
        for case in junit::parse(&String::from_utf8_lossy(bytes)).ok()? {
            let status = match (case.status.as_str(), case.finding) {
                ("notrun", _) => Status::NotRun,
                (_, Some(junit::Finding::Skipped)) => Status::Skipped,
                (_, Some(junit::Finding::Failed) | None) => Status::Completed,
            };
            let is_failed = case.finding == Some(junit::Finding::Failed);
            let failures = is_failed.then(|| case.message.unwrap_or(case.detail)).into_iter().collect();
            let JunitCase { name, duration_s, .. } = case;
            let read =
                Case { name, type_parameter: None, value_parameter: None, status, duration_s, failures };
            match suites.last_mut().filter(|suite| suite.name == case.class_name) {
                Some(suite) => suite.cases.push(read),
                None => suites.push(Suite { name: case.class_name, cases: vec![read] }),
            }
        }
        Some(Report { suites, began_at_epoch: false })
    }

    /// Every test with its full name, `Suite.Name`.
    pub(super) fn cases(&self) -> impl Iterator<Item = (String, &Case)> {
        self.suites
            .iter()
            .filter(|suite| suite.name != OUTSIDE_SUITE)
            .flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)))
            .filter(|(_, case)| !case.name.is_empty() || case.failures.is_empty())
            .map(|(suite, case)| (format!("{}.{}", suite.name, case.name), case))
    }

    /// Failures outside of any suite.
    pub(super) fn outside_failures(&self) -> Vec<&str> {
        let outside = self.suites.iter().filter(|suite| suite.name == OUTSIDE_SUITE);
        outside.flat_map(|suite| &suite.cases).flat_map(|case| &case.failures).map(String::as_str).collect()
    }

    /// Suites with a failure outside of their tests; newer releases report it as a nameless test.
    pub(super) fn failed_suites(&self) -> impl Iterator<Item = &str> {
        let suites = self.suites.iter().filter(|suite| suite.name != OUTSIDE_SUITE);
        suites
            .filter(|suite| suite.cases.iter().any(|case| case.name.is_empty() && !case.failures.is_empty()))
            .map(|suite| suite.name.as_str())
    }
}

impl<'de> Deserialize<'de> for Case {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Case, D::Error> {
        let members = deserializer.deserialize_map(Members)?;
        let first = |key: &str| members.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let text = |key: &str| first(key).and_then(Value::as_str);
        let failures = members.iter().rev().find(|(name, value)| name == "failures" && value.is_array());
        Ok(Case {
            name: text("name").unwrap_or_default().to_string(),
            type_parameter: text("type_param").map(str::to_string),
            value_parameter: text("value_param").map(str::to_string),
            status: status(text("status"), text("result"), text("timestamp")),
            duration_s: text("time").and_then(|time| time.strip_suffix('s')?.parse().ok()).unwrap_or(0.0),
            failures: failures.map(|(_, value)| failure_messages(value)).unwrap_or_default(),
        })
    }
}

/// A JSON object with its members in order, duplicates included: `RecordProperty("result", ...)` makes one.
/// GoogleTest's own members come first, `failures` last.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a test case")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

fn status(status: Option<&str>, result: Option<&str>, timestamp: Option<&str>) -> Status {
    match (status, result) {
        (Some("NOTRUN"), _) | (_, Some("SUPPRESSED")) => Status::NotRun,
        (_, Some("SKIPPED")) | (Some("SKIPPED"), _) => Status::Skipped,
        (_, _) if timestamp.is_some_and(is_epoch) => Status::NeverBegun,
        (_, _) => Status::Completed,
    }
}

/// The time a test carries that was never begun: the epoch in any time zone.
fn is_epoch(timestamp: &str) -> bool {
    timestamp.starts_with("1970-01-01") || timestamp.starts_with("1969-12-31")
}

fn is_at_epoch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().is_some_and(is_epoch))
}

fn failure_messages(value: &Value) -> Vec<String> {
    let failures = value.as_array().into_iter().flatten();
    failures.filter_map(|failure| failure.get("failure")?.as_str().map(str::to_string)).collect()
}

fn repaired(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut in_string = false;
    let mut last_visible = b' ';
    let mut rest = json;
    while let [byte, tail @ ..] = rest {
        let escape = rest.len().min(6);
        if let (true, Some(decoded)) = (in_string, single_byte(&rest[..escape])) {
            out.push(decoded);
            rest = &rest[escape..];
            continue;
        }
        // A backslash takes the next byte with it, so that `\\u00C3` stays what it is and `\"` ends no string.
        let taken = if *byte == b'\\' && !tail.is_empty() { 2 } else { 1 };
        in_string ^= *byte == b'"';
        if !in_string && *byte == b'{' && last_visible == b'}' {
            out.push(b',');
        }
        if !byte.is_ascii_whitespace() {
            last_visible = *byte;
        }
        out.extend_from_slice(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// The byte 0x80..=0xFF that `\u00XX` stands for.
fn single_byte(escape: &[u8]) -> Option<u8> {
    let digits = escape.strip_prefix(b"\\u00").filter(|digits| digits.len() == 2)?;
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (byte >= 0x80).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_millions_of_parts_is_refused() {
        for part in ["{},", "[],", "1,"] {
            let text = format!(
                r#"{{"testsuites": [{{"name": "S", "testsuite": [{}{{}}]}}]}}"#,
                part.repeat(3_000_000)
            );
            assert!(
                Report::parse(text.as_bytes()).unwrap_err().to_string().contains("more than any run"),
                "{part}"
            );
        }
        let nested = format!(r#"{{"testsuites": {}"#, "[".repeat(100_000));
        assert!(Report::parse(nested.as_bytes()).is_err());
    }

    fn case(json: &str) -> Case {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_recorded_property_cannot_pose_as_the_result() {
        let case = case(
            r#"{"name": "N", "status": "RUN", "result": "COMPLETED", "time": "0.25s", "classname": "S",
                "result": "SKIPPED", "failures": "none", "failures": [{"failure": "f.cc:1\nbad", "type": ""}]}"#,
        );
        assert_eq!(case.status, Status::Completed);
        assert_eq!(case.duration_s, 0.25);
        assert_eq!(case.failures, ["f.cc:1\nbad"]);
    }

    #[test]
    fn a_test_with_the_epoch_as_its_time_was_never_begun() {
        let never = case(
            r#"{"name": "N", "status": "RUN", "result": "COMPLETED", "timestamp": "1970-01-01T00:00:00Z"}"#,
        );
        assert_eq!(never.status, Status::NeverBegun);
    }

    #[test]
    fn bytes_escaped_one_by_one_become_the_character_again() {
        let repaired = |text: &[u8]| String::from_utf8(repaired(text)).unwrap();
        assert_eq!(repaired(br#""caf\u00C3\u00A9 \\u00C3 \u0007 \n""#), r#""café \\u00C3 \u0007 \n""#);
        assert_eq!(repaired(br#""cut \u00C"#), r#""cut \u00C"#);
    }

    #[test]
    fn the_comma_that_is_forgotten_between_suites_is_put_in() {
        let report = Report::parse(
            br#"{"testsuites": [{"name": "} {\"} {", "testsuite": []}    {"name": "T", "testsuite": []}]}"#,
        )
        .unwrap();
        let names: Vec<&str> = report.suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["} {\"} {", "T"]);
    }

    #[test]
    fn failures_outside_of_tests_are_told_from_tests() {
        let report = Report::parse(
            br#"{"testsuites": [
                {"name": "S", "testsuite": [{"name": "N"}, {"name": "", "failures": [{"failure": "set-up"}]}]},
                {"name": "NonTestSuiteFailure", "testsuite": [{"name": "", "failures": [{"failure": "env"}]}]}]}"#,
        )
        .unwrap();
        assert_eq!(report.cases().map(|(name, _)| name).collect::<Vec<_>>(), ["S.N"]);
        assert_eq!(report.failed_suites().collect::<Vec<_>>(), ["S"]);
        assert_eq!(report.outside_failures(), ["env"]);
    }

    #[test]
    fn damaged_reports_are_errors_and_nothing_worse() {
        let whole = br#"{"tests": 1, "testsuites": [{"name": "S\u00C3\u00A9", "tests": 1, "testsuite": [
            {"name": "N", "status": "RUN", "result": "COMPLETED", "timestamp": "2026-01-01T00:00:00Z", "time": "0.01s",
             "failures": [{"failure": "f.cc:1\n\"bad\"", "type": ""}]}]}    {"name": "T", "testsuite": []}]}"#;
        assert_eq!(Report::parse(whole).unwrap().cases().count(), 1);
        for end in 0..whole.len() {
            assert!(Report::parse(&whole[..end]).is_err(), "cut off after {end} bytes");
        }
        for position in 0..whole.len() {
            for byte in [0, b'"', b'\\', b'{', b'}', b'u', 0xC3, 0xFF] {
                let mut damaged = whole.to_vec();
                damaged[position] = byte;
                // Either an error or a report; names and messages may differ.
                let _ = Report::parse(&damaged).map(|report| report.cases().count());
            }
        }
    }
}
