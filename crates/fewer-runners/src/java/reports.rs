//! The XML reports of a run: those written since it began, by class. What they mean for a test is told elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::junit::{self, JunitCase};

/// The cases of a top-level class and of what is nested in it.
pub(crate) type ClassReports = BTreeMap<String, Vec<JunitCase>>;

/// Everything reported in a directory since then, and the files that cannot be read.
pub(crate) fn read(directory: &Path, since: SystemTime) -> (ClassReports, Vec<String>) {
    let mut reports = ClassReports::new();
    let mut unreadable = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return (reports, unreadable) };
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_report(path)).collect();
    paths.sort();
    for path in paths {
        let is_new = path.metadata().and_then(|found| found.modified()).is_ok_and(|written| written >= since);
        if !is_new {
            continue;
        }
        let cases = fs::read(&path).map_err(|error| error.to_string()).and_then(|bytes| {
            junit::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| error.to_string())
        });
        match cases {
            Ok(cases) => cases.into_iter().for_each(|case| {
                reports.entry(class_of(&case, &path)).or_default().push(case);
            }),
            Err(error) => unreadable.push(format!("the report {} cannot be read: {error}", path.display())),
        }
    }
    (reports, unreadable)
}

/// The outermost class. Example: `p.CTest` of `p.CTest$Inner`.
pub(crate) fn top_level(class: &str) -> &str {
    let start = class.rfind('.').map_or(0, |dot| dot + 1);
    match class.get(start + 1..).and_then(|rest| rest.find('$')) {
        Some(dollar) => &class[..start + 1 + dollar],
        None => class,
    }
}

fn is_report(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with("TEST-") && name.ends_with(".xml")
}

/// As the case says; where it speaks in phrases, as the file is called.
pub(super) fn class_of(case: &JunitCase, path: &Path) -> String {
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    let file = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let from_file = file.strip_prefix("TEST-").unwrap_or(&file);
    let class = if is_name(&case.class_name) { &case.class_name } else { from_file };
    top_level(class).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn reports_of_this_run_are_gathered_by_top_level_class() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let case =
            |class: &str| format!("<testsuite><testcase name=\"m\" classname=\"{class}\"/></testsuite>");
        write("TEST-p.C.xml", &case("p.C"));
        write("TEST-p.C$N.xml", &case("p.C$N"));
        write("TEST-p.D.xml", &case("a display name"));
        write("TEST-p.Broken.xml", "<testsuite><testcase");
        write("other.xml", &case("p.E"));
        let (reports, unreadable) = read(directory.path(), SystemTime::UNIX_EPOCH);
        let found: Vec<(&str, usize)> =
            reports.iter().map(|(class, cases)| (class.as_str(), cases.len())).collect();
        assert_eq!(found, [("p.C", 2), ("p.D", 1)]);
        assert_eq!(unreadable.len(), 1);
        let later = SystemTime::now() + Duration::from_secs(60);
        assert!(read(directory.path(), later).0.is_empty(), "older ones are of another run");
    }
}
