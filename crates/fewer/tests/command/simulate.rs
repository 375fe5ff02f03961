//! `fewer simulate` as people call it: from a CI's history to a summary, resumed after Ctrl-C, and as kernels between
//! Arrow streams.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use serde_json::Value;

use crate::workshop::{Project, ended, wait_until};

const HISTORY: &str = "\
Name;BuildId;LastRun;Verdict;Duration
a/x;1;2024-01-01 10:00:00;0;0.5
a/y;1;2024-01-01 10:00:01;0;0.1
b/z;1;2024-01-01 10:00:02;0;0.1
a/x;2;2024-01-01 11:00:00;1;0.5
a/y;2;2024-01-01 11:00:01;0;0.1
b/z;2;2024-01-01 11:00:02;0;0.1
a/x;3;2024-01-01 12:00:00;0;0.5
b/z;3;2024-01-01 12:00:02;1;0.1
b/z;3;2024-01-01 12:00:05;0;0.1
a/y;4;2024-01-01 13:00:00;1;0.1
a/x;4;2024-01-01 13:00:01;0;0.1
";

const MAPPING: [&str; 16] = [
    "--delimiter",
    ";",
    "--column",
    "commit=BuildId",
    "--column",
    "time=LastRun",
    "--column",
    "target=Name",
    "--column",
    "result=Verdict",
    "--column",
    "duration=Duration",
    "--word",
    "0=pass",
    "--word",
    "1=fail",
];

fn imported() -> Project {
    let project = Project::empty();
    project.write("ci.csv", HISTORY);
    let arguments =
        [&["simulate", "import", "csv", "ci.csv", "-o", "raw", "--times", "execution"], &MAPPING[..]]
            .concat();
    let text = project.fewer(&arguments).expect(0);
    assert_eq!(text, "11 rows of 4 commits are in raw\n");
    project
}

/// Without the blanks that align columns.
fn spaced_once(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn three_commands_lead_from_a_ci_history_to_curves() {
    let project = imported();
    let text = project.fewer(&["simulate", "clean", "raw", "-o", "clean"]).expect(0);
    assert!(spaced_once(&text).contains("flaky by rerun 2 0.4000 2 1\n"), "{text}");
    assert!(text.contains("10 of 11 rows are left"), "{text}");
    let text = project.fewer(&["simulate", "run", "clean", "--raw", "raw", "-o", "results"]).expect(0);
    assert!(text.contains("3 of 4 commits have a transition, 3 of them at a known commit"), "{text}");
    assert!(text.contains("author-count"), "{text}");
    let mut files: Vec<String> = fs::read_dir(project.file("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    for figure in 1..=8 {
        for extension in ["csv", "json", "parquet"] {
            assert!(files.contains(&format!("figure-{figure}.{extension}")), "{files:?}");
        }
    }
    let document: Value =
        serde_json::from_str(&fs::read_to_string(project.file("results/run.json")).unwrap()).unwrap();
    assert_eq!(document["format"], "fewer-simulate-run/1");
    assert_eq!(document["rows"]["rows"], 10);
    assert_eq!(document["transition_sources"]["genuine"], 3);
    // Nothing is left beside the results.
    assert!(!project.file("results.work").exists() && !project.file("clean.work").exists());
    let raw = fs::read_to_string(project.file("results/figure-1.csv")).unwrap();
    assert_eq!(raw.lines().filter(|line| line.starts_with("raw,")).count(), 101);
}

#[test]
fn a_restricted_run_prints_json_and_csv() {
    let project = imported();
    let arguments =
        ["simulate", "run", "raw", "-o", "json", "--algorithm", "author-count", "--window", "4,8h"];
    let document = project.fewer(&[&arguments[..], &["--format", "json"]].concat()).json(0);
    assert_eq!(document["experiment"]["windows"], serde_json::json!([4, 8]));
    let algorithms: Vec<&str> = document["summary"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["algorithm"].as_str().unwrap())
        .collect();
    assert_eq!(algorithms, ["random", "optimal", "pessimal", "author-count"]);
    assert!(document["notes"][0].as_str().unwrap().contains("was not cleaned"));
    let csv = project
        .fewer(&[
            "simulate",
            "run",
            "raw",
            "-o",
            "csv",
            "--algorithm",
            "pre-submit",
            "--sample",
            "3",
            "--format",
            "csv",
        ])
        .expect(0);
    assert!(csv.starts_with("algorithm,window_h,milestone_h,area_all,"), "{csv}");
    assert_eq!(csv.lines().count(), 5);
}

#[test]
fn labels_are_written_for_other_programs() {
    let project = imported();
    let text = project.fewer(&["simulate", "label", "raw", "-o", "labels"]).expect(0);
    assert!(spaced_once(&text).contains("\nunsafe 3\n"), "{text}");
    assert!(project.file("labels/part-0000.parquet").exists());
}

#[test]
fn bad_input_is_refused_in_words_and_leaves_nothing() {
    let project = Project::empty();
    project.write("ci.csv", &HISTORY.replace(";1;0.5", ";broken;0.5"));
    let arguments = [&["simulate", "import", "csv", "ci.csv", "-o", "raw"], &MAPPING[..]].concat();
    let said = project.fewer(&arguments).refused(2);
    assert!(said.contains("ci.csv, row 5: 'broken' is no result that is known"), "{said}");
    assert!(said.contains("commit '1' has two times") && said.contains("--times execution"), "{said}");
    assert!(!project.file("raw").exists());
    let said = project.fewer(&["simulate", "run", "nowhere", "-o", "out"]).refused(2);
    assert!(said.contains("nowhere"), "{said}");
    let said = project.fewer(&["simulate", "run", ".", "-o", "out"]).refused(2);
    assert!(said.contains("is not a history: it has no executions.parquet"), "{said}");
    let said = project.fewer(&["simulate", "run", ".", "-o", "out", "--algorithm", "luck"]).refused(2);
    assert!(said.contains("'luck' is no algorithm; those known are random, optimal"), "{said}");
}

#[test]
fn git_is_joined_by_full_and_by_short_names() {
    let project = Project::empty();
    project.git(&["init", "-q", "-b", "main"]);
    for (file, author) in [("src/a.cc", "Ann <ann@x>"), ("src/b/b.cc", "Bob <bob@x>")] {
        project.write(file, author);
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", file, "--author", author]);
    }
    let log = project.output("git", &["log", "--format=%H"]);
    let hashes: Vec<&str> = log.lines().collect();
    let (new, old) = (hashes[0], hashes[1]);
    project.write("ci.csv", &format!("commit,target,result\n{old},t,pass\n{},t,fail\n", &new[..9]));
    let document = project
        .fewer(&["simulate", "import", "csv", "ci.csv", "--git", ".", "-o", "history", "--format", "json"])
        .json(0);
    assert_eq!((&document["joined"], &document["modified_files"]), (&2.into(), &2.into()));
    let said =
        project.fewer(&["simulate", "import", "csv", "ci.csv", "--git", "/", "-o", "other"]).refused(2);
    assert!(said.contains("is in no git repository"), "{said}");
}

#[test]
fn what_fewer_recorded_is_a_history() {
    let project = Project::small();
    project.settle();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    project.commit_all();
    project.fewer_with(&[("AREA_FAILS", "1")], &["run"]).expect(1);
    let document =
        project.fewer(&["simulate", "import", "store", "-o", "history", "--format", "json"]).json(0);
    // All tests of the first commit, and the two that the second one affects.
    assert_eq!((&document["commits"], &document["joined"]), (&2.into(), &2.into()), "{document}");
    assert_eq!(document["rows"], 8, "{document}");
    let run = project.fewer(&["simulate", "run", "history", "-o", "results", "--format", "json"]).json(0);
    assert_eq!((&run["unsafe_commits"], &run["rows"]["unsafe"]), (&1.into(), &1.into()), "{run}");
}

#[test]
fn ctrl_c_ends_cleanly_and_the_same_command_goes_on() {
    let project = Project::empty();
    let rows = "1500000";
    project.fewer(&["simulate", "generate", "--rows", rows, "--seed", "2", "-o", "history"]).expect(0);
    let arguments = ["simulate", "run", "history", "-o", "results", "--memory", "200MB"];
    let child = project.start(&[], &arguments);
    wait_until(|| project.file("results.work/shard-0000.parquet").exists());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let interrupted = ended(child);
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert!(interrupted.stderr.contains("what is done is kept in results.work"), "{}", interrupted.stderr);
    let left: Vec<_> =
        fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "history" || name == "results.work"), "{left:?}");
    project.fewer(&[&arguments[..], &["--algorithm", "author-count", "--window", "4"]].concat()).expect(0);
    assert!(project.file("results/run.json").exists() && !project.file("results.work").exists());
}

/// What a kernel of the real program makes of a stream.
fn piped(project: &Project, arguments: &[&str], input: &Path) -> RecordBatch {
    let output = Command::new(env!("CARGO_BIN_EXE_fewer"))
        .args(["simulate", "kernel"])
        .args(arguments)
        .current_dir(project.path())
        .stdin(fs::File::open(input).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut batches = StreamReader::try_new(&output.stdout[..], None).unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    batch
}

fn stream(project: &Project, name: &str, batch: &RecordBatch) -> PathBuf {
    let path = project.file(name);
    let mut writer = StreamWriter::try_new(fs::File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    path
}

fn text(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[test]
fn kernels_are_pipes_between_arrow_streams() {
    let project = Project::empty();
    let hour = 3_600_000_000;
    let times = TimestampMicrosecondArray::from(vec![hour, 2 * hour, hour, 2 * hour]);
    let rows = RecordBatch::try_from_iter([
        ("target", text(&["x", "x", "y", "y"])),
        ("position", Arc::new(Int32Array::from(vec![0, 1, 0, 1])) as ArrayRef),
        ("time", Arc::new(times)),
        ("author", text(&["ann", "bob", "ann", "bob"])),
        ("result", text(&["pass", "fail", "pass", "pass"])),
        ("pre_submit", text(&["unknown"; 4])),
    ])
    .unwrap();
    let rows = stream(&project, "rows.arrows", &rows);
    let labels = piped(&project, &["a", "--labels-only"], &rows);
    assert_eq!(labels.column_by_name("label").unwrap().as_primitive::<Int8Type>().values(), &[3, 2, 3, 0]);
    let experiment = ["--algorithm", "author-count", "--window", "4"];
    project.write("commits.txt", "1\n");
    let scored = piped(&project, &[&["a", "--commits", "commits.txt"], &experiment[..]].concat(), &rows);
    assert_eq!(
        scored.column_by_name("author-count/4h").unwrap().as_primitive::<Int32Type>().values(),
        &[1, 1]
    );
    let scored = stream(&project, "scored.arrows", &scored);
    let tallies = piped(&project, &[&["b"], &experiment[..]].concat(), &scored);
    // Four configurations at 101 rates; one of two targets skipped is safe half of the time, in units of 2^-40.
    assert_eq!(tallies.num_rows(), 404);
    let safe = tallies.column_by_name("safe_at_unsafe").unwrap().as_primitive::<Int64Type>();
    let at_half = |configuration: usize| safe.value(101 * configuration + 50);
    assert_eq!([0, 1, 2, 3].map(at_half), [1 << 39, 1 << 40, 0, 1 << 39]);
    let refused = Command::new(env!("CARGO_BIN_EXE_fewer"))
        .args(["simulate", "kernel", "b"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("an Arrow IPC stream is needed"));
}
