//! The XML reports of a run: those written while it went on, case by case. What they mean for a test is told elsewhere.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::SystemTime;

use crate::junit::{self, JunitCase};

/// A case with the classes that it may belong to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ReportedCase {
    /// The top-level class that the case names; where it speaks in phrases, that of the file.
    pub(crate) class: String,
    /// The top-level class that the file is named after: the one that was started.
    pub(crate) file: String,
    pub(crate) case: JunitCase,
}

/// Everything reported in a directory during a run, and the files that cannot be read. What is dated after its end was
/// left by another, when the clock was ahead.
pub(crate) fn read(
    directory: &Path,
    during: &RangeInclusive<SystemTime>,
) -> (Vec<ReportedCase>, Vec<String>) {
    let mut reports = Vec::new();
    let mut unreadable = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return (reports, unreadable) };
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_report(path)).collect();
    paths.sort();
    for path in paths {
        if !path.metadata().and_then(|found| found.modified()).is_ok_and(|written| during.contains(&written))
        {
            continue;
        }
        match junit::read(&path) {
            Ok(cases) => reports.extend(cases.into_iter().map(|case| ReportedCase {
                class: class_of(&case, &path),
                file: top_level(&named_after(&path)).to_string(),
                case,
            })),
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

fn named_after(path: &Path) -> String {
    let file = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    file.strip_prefix("TEST-").unwrap_or(&file).to_string()
}

/// As the case says; where it speaks in phrases, as the file is called.
pub(super) fn class_of(case: &JunitCase, path: &Path) -> String {
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    let from_file = named_after(path);
    let class = if is_name(&case.class_name) { &case.class_name } else { &from_file };
    top_level(class).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn reports_of_this_run_are_gathered_with_the_classes_they_name() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let case =
            |class: &str| format!("<testsuite><testcase name=\"m\" classname=\"{class}\"/></testsuite>");
        write("TEST-p.C.xml", &case("p.Base$N"));
        write("TEST-p.C$N.xml", &case("p.C$N"));
        write("TEST-p.D.xml", &case("a display name"));
        write("TEST-p.Broken.xml", "<testsuite><testcase");
        write("other.xml", &case("p.E"));
        let until_now = SystemTime::UNIX_EPOCH..=SystemTime::now() + Duration::from_secs(1);
        let (reports, unreadable) = read(directory.path(), &until_now);
        let found: Vec<(&str, &str)> =
            reports.iter().map(|case| (case.class.as_str(), case.file.as_str())).collect();
        assert_eq!(found, [("p.C", "p.C"), ("p.Base", "p.C"), ("p.D", "p.D")]);
        assert_eq!(unreadable.len(), 1);
        let later = SystemTime::now() + Duration::from_secs(60);
        let older = read(directory.path(), &(later..=later));
        assert!(older.0.is_empty(), "older ones are of another run");
        let file = fs::File::options().write(true).open(directory.path().join("TEST-p.C.xml")).unwrap();
        file.set_modified(later).unwrap();
        let (reports, _) = read(directory.path(), &until_now);
        assert_eq!(reports.len(), 2, "so are those of a clock that was ahead");
    }
}
