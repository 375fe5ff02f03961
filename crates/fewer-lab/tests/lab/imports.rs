//! Bringing histories in: each format, each join, and each kind of bad input with its message.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fewer_lab::engine::Ignored;
use fewer_lab::import::{
    CommitFacts, CommitSource, Duplicates, Field, Granularity, Imported, Intake, IntakeOptions, Mapping,
    NoCommits, Times, import_csv, import_junit, import_parquet,
};
use fewer_lab::records::History;
use fewer_lab::{Experiment, LabError, Outcome};

use crate::workbench::{PLENTY, Workbench, run};

const GOOD: &str = "\
commit,time,author,target,result,duration_s,pre_submit
a1,2024-01-01 10:00:00,ann,lib/x,pass,0.5,skipped
a1,2024-01-01 10:00:00,ann,lib/y,PASSED,,
b2,2024-01-01 11:00:00,bob,lib/x,fail,1.5,transition
b2,2024-01-01 11:00:00,bob,lib/y,,,
c3,2024-01-01 12:00:00,bob,lib/y,failed,2,
";

fn options(workbench: &Workbench) -> IntakeOptions {
    IntakeOptions {
        output: workbench.path("history"),
        times: Times::Commit,
        sort: false,
        duplicates: Duplicates::Refuse,
    }
}

fn import(
    workbench: &Workbench,
    text: &str,
    mapping: &Mapping,
    options: IntakeOptions,
) -> Result<Imported, LabError> {
    import_with(workbench, text, mapping, options, &NoCommits)
}

fn import_with(
    workbench: &Workbench,
    text: &str,
    mapping: &Mapping,
    options: IntakeOptions,
    source: &dyn CommitSource,
) -> Result<Imported, LabError> {
    let file = workbench.path("ci.csv");
    fs::write(&file, text).unwrap();
    let mut intake = Intake::new(options, source)?;
    import_csv(std::slice::from_ref(&file), b',', mapping, &mut intake, &Ignored)?;
    intake.finish(&file)
}

/// The rows of a history as text, one a line.
fn rows(history: &History) -> Vec<String> {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int32Type, TimestampMicrosecondType};
    let names = ["position", "commit", "time", "author", "target", "result", "duration_s", "pre_submit"];
    let mut lines = Vec::new();
    for piece in history.executions.pieces(1 << 20) {
        for batch in history.executions.batches(&piece, &names).unwrap() {
            let batch = batch.unwrap();
            let column = |name| batch.column_by_name(name).unwrap();
            let text = |name, row| {
                let words = column(name).as_dictionary::<Int32Type>();
                let values = words.values().as_string::<i32>();
                words.keys().is_valid(row).then(|| values.value(words.keys().value(row) as usize).to_string())
            };
            for row in 0..batch.num_rows() {
                let seconds = column("duration_s").as_primitive::<Float64Type>();
                let seconds = seconds.is_valid(row).then(|| seconds.value(row));
                let hour =
                    column("time").as_primitive::<TimestampMicrosecondType>().value(row) / 3_600_000_000 % 24;
                let words = ["commit", "author", "target", "result", "pre_submit"]
                    .map(|name| text(name, row).unwrap_or("?".to_string()));
                let position = column("position").as_primitive::<Int32Type>().value(row);
                lines.push(format!("{position} {hour}h {} {seconds:?}", words.join(" ")));
            }
        }
    }
    lines
}

#[track_caller]
fn assert_refused(text: &str, options: impl FnOnce(&Workbench) -> IntakeOptions, expected: &[&str]) {
    let workbench = Workbench::new();
    let error = import(&workbench, text, &Mapping::default(), options(&workbench)).unwrap_err().to_string();
    for expected in expected {
        assert!(error.contains(expected), "'{expected}' is not in:\n{error}");
    }
    assert_nothing_left(&workbench);
}

#[track_caller]
fn assert_nothing_left(workbench: &Workbench) {
    let left: Vec<PathBuf> =
        fs::read_dir(workbench.path(".")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!workbench.path("history").exists(), "{left:?}");
    assert!(!left.iter().any(|path| path.to_string_lossy().contains(".fewer-simulate-")), "{left:?}");
}

#[test]
fn a_csv_file_comes_in_row_by_row() {
    let workbench = Workbench::new();
    let imported = import(&workbench, GOOD, &Mapping::default(), options(&workbench)).unwrap();
    assert_eq!((imported.rows, imported.commits, imported.sorted), (5, 3, false));
    assert_eq!(
        rows(&workbench.history()),
        [
            "0 10h a1 ann lib/x pass skipped Some(0.5)",
            "0 10h a1 ann lib/y pass unknown None",
            "1 11h b2 bob lib/x fail transition Some(1.5)",
            "1 11h b2 bob lib/y not-run unknown None",
            "2 12h c3 bob lib/y fail unknown Some(2.0)",
        ]
    );
}

#[test]
fn a_missing_column_is_named_with_those_there_are() {
    let text = GOOD.replace("target,", "test,");
    assert_refused(
        &text,
        options,
        &["has no column 'target'", "--column target=NAME", "it has 'commit', 'time', 'author', 'test'"],
    );
    let workbench = Workbench::new();
    let columns = vec![(Field::Author, "who".to_string())];
    let mapping = Mapping { columns, ..Mapping::default() };
    let error = import(&workbench, GOOD, &mapping, options(&workbench)).unwrap_err().to_string();
    assert!(error.contains("has no column 'who', which was named for the author"), "{error}");
}

#[test]
fn wrong_values_are_told_with_their_rows_all_at_once() {
    let text = GOOD.replace("0.5", "half").replace(",fail,", ",maybe,").replace("12:00:00", "noon");
    assert_refused(
        &text,
        options,
        &[
            "ci.csv, row 2: 'half' is no duration",
            "ci.csv, row 4: 'maybe' is no result that is known; say what it means, like --word 'maybe=fail'",
            "ci.csv, row 6: '2024-01-01 noon' is no time",
            "nothing was written",
        ],
    );
}

#[test]
fn many_bad_rows_are_counted_after_the_first_ones() {
    let bad = "a1,2024-01-01 10:00:00,ann,lib/x,?,,\n".repeat(30);
    let header = GOOD.lines().next().unwrap();
    assert_refused(&format!("{header}\n{bad}"), options, &["row 21:", "and 10 bad rows more"]);
}

#[test]
fn a_row_with_too_few_cells_is_told_with_its_line() {
    assert_refused(
        &format!("{GOOD}d4,2024-01-01 13:00:00\n"),
        options,
        &["row 7: it has 2 cells, but the first line has 7"],
    );
}

#[test]
fn times_out_of_order_are_refused_unless_rows_may_be_sorted() {
    let text = GOOD.replace("11:00:00", "09:00:00");
    assert_refused(
        &text,
        options,
        &[
            "row 4: times are out of order: 2024-01-01T09:00:00Z comes after 2024-01-01T10:00:00Z",
            "say --sort",
        ],
    );
    let workbench = Workbench::new();
    let sorting = IntakeOptions { sort: true, ..options(&workbench) };
    let imported = import(&workbench, &text, &Mapping::default(), sorting).unwrap();
    assert!(imported.sorted);
    let commits: Vec<String> = rows(&workbench.history()).iter().map(|row| row[..6].to_string()).collect();
    assert_eq!(commits, ["0 9h b", "0 9h b", "1 10h ", "1 10h ", "2 12h "]);
}

#[test]
fn a_commit_with_two_times_is_refused_unless_they_are_of_executions() {
    let text = GOOD.replacen("10:00:00", "10:20:00", 1);
    assert_refused(
        &text,
        options,
        &[
            "row 3: commit 'a1' has two times, 2024-01-01T10:20:00Z and 2024-01-01T10:00:00Z",
            "--times execution",
        ],
    );
    let workbench = Workbench::new();
    let executions = IntakeOptions { times: Times::Execution, ..options(&workbench) };
    // A late row of the first commit, too.
    let text = format!("{text}a1,2024-01-01 13:00:00,ann,lib/z,pass,,\n");
    let imported = import(&workbench, &text, &Mapping::default(), executions).unwrap();
    assert_eq!((imported.rows, imported.commits, imported.sorted), (6, 3, true));
    let rows = rows(&workbench.history());
    assert_eq!(rows[0], "0 10h a1 ann lib/x pass skipped Some(0.5)");
    assert_eq!(rows[2], "0 10h a1 ann lib/z pass unknown None");
    run(&workbench.history(), &Experiment::default(), &workbench.path("work"), PLENTY);
}

#[test]
fn duplicate_rows_are_refused_dropped_or_kept_as_wanted() {
    let again = GOOD.lines().nth(1).unwrap();
    let text = GOOD.replacen(again, &format!("{again}\n{again}"), 1);
    assert_refused(&text, options, &["row 3: it is a duplicate of row 2", "--duplicates drop"]);
    for (duplicates, rows, dropped) in [(Duplicates::Drop, 5, 1), (Duplicates::Keep, 6, 0)] {
        let workbench = Workbench::new();
        let options = IntakeOptions { duplicates, ..options(&workbench) };
        let imported = import(&workbench, &text, &Mapping::default(), options).unwrap();
        assert_eq!((imported.rows, imported.duplicates), (rows, dropped));
    }
    // Another result at the same commit is a rerun.
    let workbench = Workbench::new();
    let rerun = GOOD.replacen(again, &format!("{again}\n{}", again.replace("pass", "fail")), 1);
    assert_eq!(import(&workbench, &rerun, &Mapping::default(), options(&workbench)).unwrap().rows, 6);
}

#[test]
fn empty_files_are_refused() {
    assert_refused("", options, &["ci.csv has no row to import"]);
    let header = GOOD.lines().next().unwrap();
    assert_refused(&format!("{header}\n"), options, &["ci.csv has no row to import"]);
}

#[test]
fn an_output_that_is_there_already_is_left_alone() {
    let workbench = Workbench::new();
    fs::create_dir(workbench.path("history")).unwrap();
    let error = import(&workbench, GOOD, &Mapping::default(), options(&workbench)).unwrap_err().to_string();
    assert!(error.contains("is already there; name another output, or remove it"), "{error}");
}

#[test]
fn a_parquet_file_cut_in_half_is_told_from_a_whole_one() {
    let workbench = Workbench::new();
    import(&workbench, GOOD, &Mapping::default(), options(&workbench)).unwrap();
    let file = workbench.path("history/executions.parquet");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let error = History::open(&workbench.path("history")).unwrap_err().to_string();
    assert!(error.contains("executions.parquet is no whole Parquet file"), "{error}");
    assert!(error.contains("it was cut short or is something else"), "{error}");
    let error = parquet(&workbench, &file, "again", &Mapping::default()).unwrap_err().to_string();
    assert!(error.contains("is no whole Parquet file"), "{error}");
    assert!(!workbench.path("again").exists());
}

fn parquet(
    workbench: &Workbench,
    file: &Path,
    output: &str,
    mapping: &Mapping,
) -> Result<Imported, LabError> {
    let options = IntakeOptions { output: workbench.path(output), ..options(workbench) };
    let mut intake = Intake::new(options, &NoCommits)?;
    import_parquet(&[file.to_path_buf()], mapping, &mut intake, &Ignored)?;
    intake.finish(file)
}

#[test]
fn parquet_files_of_others_come_in_with_a_mapping() {
    use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampSecondArray};
    use std::sync::Arc;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("build", Arc::new(Int64Array::from(vec![7, 7, 8]))),
        ("started", Arc::new(TimestampSecondArray::from(vec![3600, 3600, 7200]))),
        ("test", Arc::new(StringArray::from(vec!["x", "y", "x"]))),
        ("green", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let workbench = Workbench::new();
    let file = workbench.path("ci.parquet");
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(fs::File::create(&file).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let named = [
        (Field::Commit, "build"),
        (Field::Time, "started"),
        (Field::Target, "test"),
        (Field::Result, "green"),
    ];
    let mapping = Mapping {
        columns: named.map(|(field, name)| (field, name.to_string())).to_vec(),
        words: vec![("true".to_string(), Outcome::Pass), ("false".to_string(), Outcome::Fail)],
        ..Mapping::default()
    };
    assert_eq!(parquet(&workbench, &file, "history", &mapping).unwrap().rows, 3);
    assert_eq!(
        rows(&workbench.history()),
        ["0 1h 7 ? x pass unknown None", "0 1h 7 ? y not-run unknown None", "1 2h 8 ? x fail unknown None",]
    );
    let unmapped = parquet(&workbench, &file, "other", &Mapping::default()).unwrap_err().to_string();
    assert!(unmapped.contains("has no column 'commit'"), "{unmapped}");
    // A history is such a file, too.
    let own = workbench.path("history/executions.parquet");
    assert_eq!(parquet(&workbench, &own, "copy", &Mapping::default()).unwrap().rows, 3);
}

#[test]
fn a_history_with_a_column_of_the_wrong_type_is_refused() {
    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let text = || -> ArrayRef { Arc::new(StringArray::from(vec!["x"])) };
    let columns = ["commit", "time", "author", "target", "result", "pre_submit"].map(|name| (name, text()));
    let position: ArrayRef = Arc::new(Int32Array::from(vec![0]));
    let batch = RecordBatch::try_from_iter(columns.into_iter().chain([("position", position)])).unwrap();
    let workbench = Workbench::new();
    fs::create_dir(workbench.path("history")).unwrap();
    let file = fs::File::create(workbench.path("history/executions.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let error = History::open(&workbench.path("history")).unwrap_err().to_string();
    assert!(error.contains("column 'time' of"), "{error}");
    assert!(error.contains("is Utf8, but a timestamp is needed; import the file"), "{error}");
}

#[test]
fn a_directory_without_permission_is_told_as_such() {
    let workbench = Workbench::new();
    let closed = workbench.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        // Root may read everything; a path through a file is as closed to it as to anybody.
        let file = workbench.path("file");
        fs::write(&file, "").unwrap();
        let error = History::open(&file.join("history")).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("file/history"), "{error}");
    } else {
        let error = History::open(&closed).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("closed"), "{error}");
        let options = IntakeOptions { output: closed.join("history"), ..options(&workbench) };
        let error = Intake::new(options, &NoCommits).err().unwrap().to_string();
        assert!(error.contains("cannot write into"), "{error}");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    let error = History::open(&closed).unwrap_err().to_string();
    assert!(error.contains("is not a history: it has no executions.parquet"), "{error}");
}

/// Knows two commits.
struct Repository;

impl CommitSource for Repository {
    fn commit(&self, name: &str) -> Option<CommitFacts> {
        let (hour, author) = match name {
            "a1" => (20, "Ann"),
            "b2" => (9, "Bob"),
            _ => return None,
        };
        let time = fewer_lab::WINDOWS[0].microseconds() * hour;
        Some(CommitFacts { time, author: author.to_string() })
    }

    fn files(&self, names: &[&str]) -> Result<Vec<Vec<String>>, String> {
        Ok(names.iter().map(|name| vec![format!("src/{name}.cc"), "README".to_string()]).collect())
    }
}

#[test]
fn git_gives_authors_times_and_files_of_the_commits_it_knows() {
    let workbench = Workbench::new();
    let mapping = Mapping { has_git: true, ..Mapping::default() };
    let imported = import_with(&workbench, GOOD, &mapping, options(&workbench), &Repository).unwrap();
    assert_eq!((imported.joined, imported.modified_files, imported.sorted), (2, 4, true));
    let rows = rows(&workbench.history());
    assert!(rows[0].starts_with("0 9h b2 Bob") && rows[2].starts_with("1 20h a1 Ann"), "{rows:?}");
    assert!(rows[4].starts_with("2 12h c3 bob"), "{rows:?}");
    let mut files = Vec::new();
    let path = workbench.history().modified_files().unwrap();
    fewer_lab::records::modified_files(&path, |position, file| files.push(format!("{position} {file}")))
        .unwrap();
    assert_eq!(files, ["0 src/b2.cc", "0 README", "1 src/a1.cc", "1 README"]);
    // Without a column of times every commit has to be known.
    let text = "commit,target,result\na1,x,pass\nzz,x,pass\n";
    let other = Workbench::new();
    let error = import_with(&other, text, &mapping, options(&other), &Repository).unwrap_err().to_string();
    assert!(error.contains("row 3: it has no time, and commit 'zz' is in no repository"), "{error}");
}

fn junit(workbench: &Workbench, granularity: Granularity) -> Result<Imported, LabError> {
    let options = IntakeOptions { times: Times::Execution, ..options(workbench) };
    let mut intake = Intake::new(options, &NoCommits)?;
    import_junit(&workbench.path("builds"), granularity, &mut intake, &Ignored)?;
    intake.finish(&workbench.path("builds"))
}

fn report(workbench: &Workbench, path: &str, hour: u32, cases: &str) {
    let path = workbench.path("builds").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!(
        "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"unit\" timestamp=\"2024-01-01T{hour:02}:00:00\">\n\
         {cases}\n</testsuite>\n</testsuites>\n"
    );
    fs::write(path, text).unwrap();
}

#[test]
fn a_tree_of_junit_reports_comes_in_by_build() {
    let workbench = Workbench::new();
    let pass = "<testcase classname=\"a.B\" name=\"one\" time=\"0.25\"/>";
    let fail =
        "<testcase classname=\"a.B\" name=\"two\" time=\"1,000.5\"><failure>x &lt; y</failure></testcase>";
    let skip = "<testcase classname=\"a.C\" name=\"three\"><skipped/></testcase>";
    let flake = "<testcase classname=\"a.C\" name=\"three\"><flakyFailure>once</flakyFailure></testcase>";
    // Names do not tell the order; times do.
    report(&workbench, "9/module/TEST-a.xml", 10, &format!("{pass}{fail}{skip}"));
    report(&workbench, "10/module/deep/TEST-a.xml", 11, &format!("{pass}{flake}"));
    fs::write(workbench.path("builds/10/notes.txt"), "not a report").unwrap();
    assert_eq!(junit(&workbench, Granularity::Class).unwrap().rows, 5);
    assert_eq!(
        rows(&workbench.history()),
        [
            "0 10h 9 ? a.B fail unknown Some(1000.75)",
            "0 10h 9 ? a.C not-run unknown None",
            "1 11h 10 ? a.B pass unknown Some(0.25)",
            "1 11h 10 ? a.C fail unknown None",
            "1 11h 10 ? a.C pass unknown None",
        ]
    );
    fs::remove_dir_all(workbench.path("history")).unwrap();
    assert_eq!(junit(&workbench, Granularity::Case).unwrap().rows, 6);
    assert!(rows(&workbench.history())[1].contains("a.B::two fail"));
}

#[test]
fn junit_reports_that_cannot_be_used_are_told_with_their_files() {
    let workbench = Workbench::new();
    report(&workbench, "1/a.xml", 10, "<testcase classname=\"a.B\" name=\"one\"/>");
    fs::write(workbench.path("builds/1/b.xml"), "<testsuite name=\"x\">\n<testcase name=\"y\">\n").unwrap();
    fs::write(workbench.path("builds/1/c.xml"), "<project>\n</project>\n").unwrap();
    fs::write(workbench.path("builds/1/d.xml"), "<testsuite>\n</oops>\n").unwrap();
    let error = junit(&workbench, Granularity::Class).unwrap_err().to_string();
    for expected in [
        "b.xml, row 2: it ends in the middle: the report was cut short",
        "c.xml, row 1: it is no JUnit report",
        "d.xml, row 2: it is no XML",
    ] {
        assert!(error.contains(expected), "'{expected}' is not in:\n{error}");
    }
    assert_nothing_left(&workbench);
}
