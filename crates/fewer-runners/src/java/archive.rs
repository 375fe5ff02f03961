//! Results that somebody else kept: a directory of XML reports of a run that is over, in whatever tree a CI server
//! stores them. Running anything is done elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::reports::class_of;
use crate::junit::{self, Finding};

/// The top-level test classes that ran, with whether any of their tests failed.
pub type ArchivedClasses = BTreeMap<String, bool>;

/// What the XML files below a directory say, and the files that cannot be read, in words. A class of which every test
/// was skipped did not run.
pub fn archived_classes(directory: &Path) -> io::Result<(ArchivedClasses, Vec<String>)> {
    let mut classes = ArchivedClasses::new();
    let mut unreadable = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "xml")
                && let Err(why) = read(&path, &mut classes)
            {
                unreadable.push(format!("{}: {why}", path.display()));
            }
        }
    }
    unreadable.sort();
    Ok((classes, unreadable))
}

fn read(path: &Path, classes: &mut ArchivedClasses) -> Result<(), String> {
    let cases = junit::read(path).map_err(|error| error.to_string())?;
    for case in cases {
        let has_failed = match case.finding {
            Some(Finding::Skipped) => continue,
            Some(Finding::Failed) => true,
            None => false,
        };
        *classes.entry(class_of(&case, path)).or_default() |= has_failed;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_failed_if_any_of_its_tests_has_wherever_the_reports_lie() {
        let directory = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let suite = |cases: &str| format!("<testsuite>{cases}</testsuite>");
        let passed = |class: &str| format!("<testcase name=\"a\" classname=\"{class}\"/>");
        let ended = |class: &str, end: &str| {
            format!("<testcase name=\"b\" classname=\"{class}\"><{end} message=\"m\"/></testcase>")
        };
        write("core/TEST-p.A.xml", &suite(&(passed("p.A") + &ended("p.A$Nested", "failure"))));
        write("core/deep/TEST-p.B.xml", &suite(&(passed("p.B") + &ended("p.B", "skipped"))));
        write("web/p.C.xml", &suite(&ended("p.C", "skipped")));
        write("web/p.D.xml", &suite(&ended("p.D", "error")));
        write("web/broken.xml", "<testsuite><testcase");
        write("web/notes.txt", "not a report");
        let (classes, unreadable) = archived_classes(directory.path()).unwrap();
        let expected = [("p.A", true), ("p.B", false), ("p.D", true)];
        assert_eq!(classes, expected.map(|(class, failed)| (class.to_string(), failed)).into());
        assert_eq!(unreadable.len(), 1);
        assert!(unreadable[0].contains("broken.xml"), "{unreadable:?}");
    }
}
