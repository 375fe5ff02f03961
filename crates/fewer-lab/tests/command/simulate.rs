//! The commands as people call them: from a CI's history to a summary, refused with a reason, resumed after Ctrl-C.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::desk::{Desk, await_that, ended};

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
a/y;5;2024-01-01 14:00:00;2;0
a/y;6;2024-01-01 15:00:00;0;0.1
";

const MAPPING: [&str; 18] = [
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
    "--word",
    "2=not-run",
];

fn imported() -> Desk {
    let desk = Desk::new();
    desk.write("ci.csv", HISTORY);
    let arguments =
        [&["import", "csv", "ci.csv", "-o", "raw", "--times", "execution"], &MAPPING[..]].concat();
    let text = desk.lab(&arguments).expect(0);
    assert_eq!(text, "13 rows of 6 commits are in raw\n");
    desk
}

/// Without the blanks that align columns.
fn spaced_once(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn three_commands_lead_from_a_ci_history_to_curves() {
    let desk = imported();
    let text = desk.lab(&["clean", "raw", "-o", "clean"]).expect(0);
    assert!(spaced_once(&text).contains("flaky by rerun 2 0.3333 2 1\n"), "{text}");
    assert!(text.contains("12 of 13 rows are left"), "{text}");
    let text = desk.lab(&["run", "clean", "--raw", "raw", "-o", "results"]).expect(0);
    assert!(text.contains("5 of 6 commits have a transition, 3 of them at a known commit"), "{text}");
    assert!(text.contains("author-count"), "{text}");
    let mut files: Vec<String> = fs::read_dir(desk.file("results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    for figure in 1..=8 {
        for extension in ["csv", "json", "parquet", "svg"] {
            assert!(files.contains(&format!("figure-{figure}.{extension}")), "{files:?}");
        }
    }
    let document: Value =
        serde_json::from_str(&fs::read_to_string(desk.file("results/run.json")).unwrap()).unwrap();
    assert_eq!(document["format"], "fewer-simulate-run/1");
    assert_eq!(document["rows"]["rows"], 12);
    assert_eq!(document["transition_sources"]["genuine"], 4);
    // Nothing is left beside the results.
    assert!(!desk.file("results.work").exists() && !desk.file("clean.work").exists());
    let raw = fs::read_to_string(desk.file("results/figure-1.csv")).unwrap();
    assert_eq!(raw.lines().filter(|line| line.starts_with("raw,")).count(), 101);
}

#[test]
fn a_restricted_run_prints_json_and_csv() {
    let desk = imported();
    let arguments = ["run", "raw", "-o", "json", "--algorithm", "author-count", "--window", "4,8h"];
    let document = desk.lab(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!(document["experiment"]["windows"], serde_json::json!([4, 8]));
    let algorithms: Vec<&str> = document["summary"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["algorithm"].as_str().unwrap())
        .collect();
    assert_eq!(algorithms, ["random", "optimal", "pessimal", "author-count"]);
    assert!(document["notes"][0].as_str().unwrap().contains("was not cleaned"));
    let csv = desk
        .lab(&["run", "raw", "-o", "csv", "--algorithm", "pre-submit", "--sample", "3", "--format", "csv"])
        .expect(0);
    assert!(csv.starts_with("algorithm,window_h,milestone_h,area_all,"), "{csv}");
    assert_eq!(csv.lines().count(), 5);
}

/// Two targets of which one fails at every second commit, all by one author, without files.
#[test]
fn what_tells_nothing_in_a_history_is_named() {
    let desk = Desk::new();
    let mut rows = "commit,time,target,result\n".to_string();
    for commit in 0..8 {
        let result = if commit % 2 == 0 { "pass" } else { "fail" };
        rows.push_str(&format!(
            "c{commit},{},a,{result}\nc{commit},{0},b,pass\n",
            1_600_000_000 + commit * 9000
        ));
    }
    desk.write("ci.csv", &rows);
    desk.lab(&["import", "csv", "ci.csv", "-o", "raw"]).expect(0);
    let document = desk.lab(&["run", "raw", "-o", "results", "--format", "json"]).json();
    let notes = document["notes"].to_string();
    for said in [
        "author-count does as chance does",
        "shared-directories does as chance does: no modified files",
        "pre-submit",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    assert!(!notes.contains("transition-count") && !notes.contains("optimal"), "{notes}");
    let figure = fs::read_to_string(desk.file("results/figure-3.csv")).unwrap();
    assert!(figure.contains(",unsafe"), "{figure}");
}

#[test]
fn labels_are_written_for_other_programs() {
    let desk = imported();
    let text = desk.lab(&["label", "raw", "-o", "labels"]).expect(0);
    assert!(spaced_once(&text).contains("\nunsafe 3\n"), "{text}");
    assert!(desk.file("labels/part-0000.parquet").exists());
}

#[test]
fn bad_input_is_refused_in_words_and_leaves_nothing() {
    let desk = Desk::new();
    desk.write("ci.csv", &HISTORY.replace(";1;0.5", ";perhaps;0.5"));
    let arguments = [&["import", "csv", "ci.csv", "-o", "raw"], &MAPPING[..]].concat();
    let said = desk.lab(&arguments).refused();
    assert!(said.contains("ci.csv, row 5: 'perhaps' is no result that is known"), "{said}");
    assert!(said.contains("commit '1' has two times") && said.contains("--times execution"), "{said}");
    assert!(!desk.file("raw").exists());
    let said = desk.lab(&["run", "nowhere", "-o", "out"]).refused();
    assert!(said.contains("nowhere"), "{said}");
    let said = desk.lab(&["run", ".", "-o", "out"]).refused();
    assert!(said.contains("is not a history: it has no executions.parquet"), "{said}");
    let said = desk.lab(&["run", ".", "-o", "out", "--algorithm", "luck"]).refused();
    assert!(said.contains("'luck' is no algorithm; those known are random, optimal"), "{said}");
}

#[test]
fn git_is_joined_by_full_and_by_short_names() {
    let desk = Desk::new();
    desk.git(&["init", "-q", "-b", "main"]);
    for (file, author) in [("src/a.cc", "Ann <ann@x>"), ("src/b/b.cc", "Bob <bob@x>")] {
        desk.write(file, author);
        desk.git(&["add", "-A"]);
        desk.git(&["commit", "-q", "-m", file, "--author", author]);
    }
    let log = desk.git(&["log", "--format=%H"]);
    let hashes: Vec<&str> = log.lines().collect();
    let (new, old) = (hashes[0], hashes[1]);
    desk.write("ci.csv", &format!("commit,target,result\n{old},t,pass\n{},t,fail\n", &new[..9]));
    let document =
        desk.lab(&["import", "csv", "ci.csv", "--git", ".", "-o", "history", "--format", "json"]).json();
    assert_eq!((&document["joined"], &document["modified_files"]), (&2.into(), &2.into()));
    let said = desk.lab(&["import", "csv", "ci.csv", "--git", "/", "-o", "other"]).refused();
    assert!(said.contains("is in no git repository"), "{said}");
}

#[test]
fn ctrl_c_ends_cleanly_and_the_same_command_goes_on() {
    let desk = Desk::new();
    let rows = "1500000";
    desk.lab(&["generate", "--rows", rows, "--seed", "2", "-o", "history"]).expect(0);
    let arguments = ["run", "history", "-o", "results", "--memory", "200MB"];
    let child = desk.start(&arguments);
    await_that(|| desk.file("results.work/shard-0000.parquet").exists());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let interrupted = ended(child);
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert!(interrupted.stderr.contains("what is done is kept in results.work"), "{}", interrupted.stderr);
    let left: Vec<_> = fs::read_dir(desk.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "history" || name == "results.work"), "{left:?}");
    desk.lab(&[&arguments[..], &["--algorithm", "author-count", "--window", "4"]].concat()).expect(0);
    assert!(desk.file("results/run.json").exists() && !desk.file("results.work").exists());
}

#[test]
fn a_signal_ends_what_takes_minutes_and_nothing_is_left_in_the_making() {
    let desk = Desk::new();
    let child = desk.start(&["generate", "--rows", "50000000", "-o", "history"]);
    await_that(|| desk.path().read_dir().unwrap().next().is_some());
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let began = std::time::Instant::now();
    let interrupted = ended(child);
    assert!(began.elapsed() < std::time::Duration::from_millis(1500));
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert!(desk.path().read_dir().unwrap().next().is_none());
}
