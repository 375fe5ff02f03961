//! What a tool prints while tests run: which class is running, for progress and for time limits. Results are not
//! taken from it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fewer_core::outcome::Verdict;
use fewer_core::test_id::TestId;

use super::reports::top_level;
use crate::event::Event;
use crate::lines::Lines;
use crate::process::Watcher;
use crate::transcript::Transcript;

/// Longer lines say nothing about classes.
const LONGEST_LINE: usize = 16 * 1024;

pub(crate) struct Watch<'a> {
    /// By class, whatever its module.
    tests: BTreeMap<&'a str, &'a TestId>,
    pub(crate) transcript: Transcript,
    pub(crate) running: BTreeMap<String, Instant>,
    timeout: Duration,
    /// When everything must be over, for tools that do not tell what runs.
    whole: Option<Instant>,
    events: &'a mut dyn FnMut(Event),
    lines: Lines,
    stopping: bool,
}

/// What a line says of a class.
#[derive(PartialEq, Debug)]
enum Said<'l> {
    Started(&'l str),
    Ended(&'l str, Verdict),
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        tests: BTreeMap<&'a str, &'a TestId>,
        timeout: Duration,
        events: &'a mut dyn FnMut(Event),
    ) -> Watch<'a> {
        let transcript = Transcript::new(8 * 1024, 64 * 1024);
        let (running, lines) = (BTreeMap::new(), Lines::new(LONGEST_LINE));
        Watch { tests, transcript, running, timeout, whole: None, events, lines, stopping: false }
    }

    /// From now on so many tests may take as long as each may.
    pub(crate) fn limit_whole(&mut self, tests: u32) {
        self.whole = self.timeout.checked_mul(tests).and_then(|time| Instant::now().checked_add(time));
    }

    /// The class that has been running for too long.
    pub(crate) fn overdue(&self) -> Option<&str> {
        let longest = self.running.iter().min_by_key(|(_, since)| **since)?;
        (longest.1.elapsed() >= self.timeout).then_some(longest.0)
    }

    fn line_ended(&mut self, line: &str) {
        match said(line) {
            Some(Said::Started(class)) => {
                let class = top_level(class);
                if let Some(test) = self.tests.get(class)
                    && !self.running.contains_key(class)
                {
                    self.running.insert(class.to_string(), Instant::now());
                    (self.events)(Event::TestStarted { test: (*test).clone() });
                }
            }
            Some(Said::Ended(class, verdict)) => {
                // A nested class ends before its outer class does.
                if self.running.remove(class).is_some()
                    && let Some(test) = self.tests.get(class)
                {
                    (self.events)(Event::TestEnded { test: (*test).clone(), verdict });
                }
            }
            None => {}
        }
    }
}

impl Watcher for Watch<'_> {
    fn output(&mut self, bytes: &[u8]) {
        self.transcript.push(bytes);
        for line in self.lines.ended(bytes) {
            if !self.stopping {
                self.line_ended(&line);
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let running = self.running.values().min().and_then(|since| since.checked_add(self.timeout));
        running.into_iter().chain(self.whole).min()
    }

    fn stopping(&mut self) {
        self.stopping = true;
    }
}

/// Surefire's lines, and those of our init script for Gradle.
fn said(line: &str) -> Option<Said<'_>> {
    if let Some((_, class)) = line.split_once("Running ") {
        return line.starts_with("[INFO] Running ").then_some(Said::Started(class));
    }
    if let Some(told) = line.strip_prefix("fewer-test: ") {
        let (word, class) = told.split_once(' ')?;
        return match word {
            "started" => Some(Said::Started(class)),
            "passed" => Some(Said::Ended(class, Verdict::Passed)),
            "failed" => Some(Said::Ended(class, Verdict::Failed)),
            _ => None,
        };
    }
    let (_, rest) = line.split_once("Tests run: ")?;
    let (counts, class) = rest.split_once(" - in ").or_else(|| rest.split_once(" -- in "))?;
    let verdict = if counts.contains("FAILURE!") || counts.contains("ERROR!") {
        Verdict::Failed
    } else {
        Verdict::Passed
    };
    Some(Said::Ended(class.trim(), verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_which_class_runs_and_ended() {
        for (line, expected) in [
            ("[INFO] Running p.CTest", Some(Said::Started("p.CTest"))),
            ("Running away", None),
            (
                "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in p.CTest",
                Some(Said::Ended("p.CTest", Verdict::Passed)),
            ),
            (
                "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in p.CTest",
                Some(Said::Ended("p.CTest", Verdict::Failed)),
            ),
            ("[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0", None),
            ("fewer-test: started p.CTest", Some(Said::Started("p.CTest"))),
            ("fewer-test: failed p.CTest", Some(Said::Ended("p.CTest", Verdict::Failed))),
        ] {
            assert_eq!(said(line), expected, "{line}");
        }
    }
}
