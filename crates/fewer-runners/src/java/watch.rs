//! What a tool prints while tests run: which class is running, for progress and for time limits. Results are not
//! taken from it.

use std::collections::{BTreeMap, BTreeSet};
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
    /// By the names that the tool prints, nested classes' too.
    running: BTreeMap<String, Instant>,
    /// Top-level classes that began.
    pub(crate) began: BTreeSet<String>,
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
        let (running, began, lines) = (BTreeMap::new(), BTreeSet::new(), Lines::new(LONGEST_LINE));
        Watch { tests, transcript, running, began, timeout, whole: None, events, lines, stopping: false }
    }

    /// From now on so many tests may take as long as each may.
    pub(crate) fn limit_whole(&mut self, tests: u32) {
        self.whole = self.timeout.checked_mul(tests).and_then(|time| Instant::now().checked_add(time));
    }

    /// The top-level classes that began and did not end.
    pub(crate) fn running(&self) -> BTreeSet<String> {
        self.running.keys().map(|class| top_level(class).to_string()).collect()
    }

    /// The top-level class that has been running for too long.
    pub(crate) fn overdue(&self) -> Option<&str> {
        let longest = self.running.iter().min_by_key(|(_, since)| **since)?;
        (longest.1.elapsed() >= self.timeout).then_some(top_level(longest.0))
    }

    fn is_running(&self, class: &str) -> bool {
        self.running.keys().any(|running| top_level(running) == class)
    }

    fn line_ended(&mut self, line: &str) {
        match said(line) {
            Some(Said::Started(class)) => {
                let outermost = top_level(class);
                if let Some(test) = self.tests.get(outermost) {
                    let is_first = !self.is_running(outermost);
                    self.running.entry(class.to_string()).or_insert_with(Instant::now);
                    self.began.insert(outermost.to_string());
                    if is_first {
                        (self.events)(Event::TestStarted { test: (*test).clone() });
                    }
                }
            }
            Some(Said::Ended(class, verdict)) => {
                // A nested class ends before its outer class does, and by its own name.
                let outermost = top_level(class);
                if self.running.remove(class).is_some()
                    && !self.is_running(outermost)
                    && let Some(test) = self.tests.get(outermost)
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
    fn a_nested_class_ends_by_the_name_that_it_began_with() {
        let (base, heir) = (TestId::new("m", "p.Base"), TestId::new("m", "p.HeirTest"));
        let mut told = Vec::new();
        let mut events = |event| told.push(event);
        let tests = BTreeMap::from([("p.Base", &base), ("p.HeirTest", &heir)]);
        let mut watch = Watch::new(tests, Duration::from_secs(60), &mut events);
        watch.output(b"[INFO] Running p.HeirTest\n[INFO] Running p.Base$Inner\n");
        assert_eq!(watch.running().len(), 2);
        watch.output(b"[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0 -- in p.Base$Inner\n");
        watch.output(b"[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0 -- in p.HeirTest\n");
        assert!(watch.running().is_empty() && watch.deadline().is_none());
        assert_eq!(watch.began.len(), 2);
        assert_eq!(told.len(), 4);
    }

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
