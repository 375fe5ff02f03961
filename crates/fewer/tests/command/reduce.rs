//! Reduced suites: from coverage that is collected or imported to what is kept, carried on, lost and compared.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::workshop::{Project, lines};

/// The small project with its builds and what reduction leaves in it ignored.
fn small() -> Project {
    let project = Project::small();
    project.write(".gitignore", "/build*/\n/plots/\n/*.csv\n/fewer-reduced.toml\n");
    project.write("fewer.toml", "build-directory = \"build\"\n");
    project.commit_all();
    project
}

fn instrumented(project: &Project, directory: &str, compiler: &str) {
    project.command("make", &["-s", "-j2", &format!("OUT={directory}"), &format!("CXX={compiler}")]);
}

const CLANG: &str = "clang++ -fprofile-instr-generate -fcoverage-mapping";
const GCC: &str = "g++ --coverage";

/// The paper's worked example as a matrix of pairs.
const WORKED_EXAMPLE: &str = "test,requirement\nt::t1,R3\nt::t1,R4\nt::t2,R4\nt::t2,R5\nt::t3,R1\nt::t3,R2\nt::t4,R2\nt::t4,R3\nt::t4,R5\n";

fn worked_example() -> Project {
    let project = Project::empty();
    project.write("fewer.toml", "");
    project.write("matrix.csv", WORKED_EXAMPLE);
    project.fewer(&["reduce", "import", "matrix.csv"]).expect(0);
    project
}

#[test]
fn coverage_is_collected_by_clang_and_by_gcov_and_only_new_content_again() {
    let project = small();
    project.settle();
    for (directory, compiler, name) in [("build-clang", CLANG, "clang"), ("build-gcov", GCC, "gcov")] {
        instrumented(&project, directory, compiler);
        let collect = ["reduce", "collect", "--build-directory", directory, "--format", "json"];
        let first = project.fewer(&collect).json(0);
        assert_eq!((&first["format"], &first["coverage"]), (&"fewer-reduce-collect/1".into(), &name.into()));
        assert_eq!((&first["tests"], &first["collected"]), (&6.into(), &6.into()), "{first}");
        // The bodies of area, perimeter, shout and first_line, without headers and without the tests' own code.
        assert!(first["statements"].as_u64().is_some_and(|count| (10..30).contains(&count)), "{first}");
        let again = project.fewer(&collect).json(0);
        // The skipped test has nothing to show and runs again.
        assert_eq!((&again["collected"], &again["known_before"]), (&1.into(), &5.into()), "{again}");
        assert_eq!(again["statements"], first["statements"]);
        assert_eq!(counts_left_in(&project.file(directory)), Vec::<PathBuf>::new());
        let built = project.fewer(&["reduce", "build", "--format", "json"]).json(0);
        assert_eq!(built["kept"], 5, "{built}");
        let file = fs::read_to_string(project.file("fewer-reduced.toml")).unwrap();
        assert!(file.contains("like src/shape.cpp:"), "{file}");
    }
    project.edit("src/shape.cpp", "width * height", "height * width");
    instrumented(&project, "build-clang", CLANG);
    let edited =
        project.fewer(&["reduce", "collect", "--build-directory", "build-clang", "--format", "json"]).json(0);
    // Area alone reaches what changed; the skipped test is due every time.
    assert_eq!((&edited["collected"], &edited["known_before"]), (&2.into(), &4.into()), "{edited}");
    lines_that_moved_are_collected_again(&project);
}

/// A comment above `perimeter` moves its lines, whatever the fingerprints say.
fn lines_that_moved_are_collected_again(project: &Project) {
    project.edit("src/shape.cpp", "int perimeter(", "// Around it.\nint perimeter(");
    instrumented(project, "build-clang", CLANG);
    project.fewer(&["reduce", "collect", "--build-directory", "build-clang"]).expect(0);
    project.fewer(&["reduce", "build"]).expect(0);
    let file = fs::read_to_string(project.file("fewer-reduced.toml")).unwrap();
    assert!(file.contains("like src/shape.cpp:13"), "{file}");
}

/// Counts that an instrumented program wrote below a directory.
fn counts_left_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(counts_left_in(&path));
        } else if path.extension().is_some_and(|extension| extension == "profraw" || extension == "gcda") {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_build_without_coverage_is_refused_with_what_to_do() {
    let project = small();
    let error = project.fewer(&["reduce", "collect"]).refused(2);
    assert!(error.contains("not built with coverage") && error.contains("--build-directory"), "{error}");
}

#[test]
fn the_reduced_suite_is_a_file_for_people_with_reasons() {
    let project = worked_example();
    let text = project.fewer(&["reduce", "build"]).expect(0);
    assert!(text.contains("3 of 4 tests are kept (75.00 %)"), "{text}");
    let file = fs::read_to_string(project.file("fewer-reduced.toml")).unwrap();
    assert!(file.contains("[[kept]]\ntest = \"t::t4\"\nreason = \""), "{file}");
    assert!(
        file.contains("statements that no other kept test satisfies: 1, like R5; new when it was taken: 3"),
        "{file}"
    );
    let left_out = "[[left-out]]\ntest = \"t::t2\"\nbecause-of = [\n    \"t::t4\",\n    \"t::t1\",\n]\n";
    assert!(file.ends_with(left_out), "{file}");
}

#[test]
fn a_matrix_in_parquet_says_the_same_as_in_csv() {
    let project = worked_example();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/requirements/parquet");
    let of_csv = project.fewer(&["reduce", "build", "--format", "json"]).json(0);
    for name in ["pairs.parquet", "columns.parquet"] {
        let path = testdata.join(name);
        let import = ["reduce", "import", path.to_str().unwrap(), "--kind", "mutants", "--format", "json"];
        let import = project.fewer(&import).json(0);
        let figures = [&import["tests"], &import["requirements"], &import["entries"]];
        assert_eq!(figures, [4, 5, 9], "{import}");
        let built = project.fewer(&["reduce", "build", "--kind", "mutants", "--format", "json"]).json(0);
        assert_eq!((&built["kept"], &built["left_out"]), (&of_csv["kept"], &of_csv["left_out"]), "{built}");
    }
    project.write("cut.parquet", "PAR1 and no more");
    let error = project.fewer(&["reduce", "import", "cut.parquet"]).refused(2);
    assert!(error.starts_with("fewer: cut.parquet is no whole Parquet file"), "{error}");
    let error = project.fewer(&["reduce", "import", "--from", "parquet", "matrix.csv"]).refused(2);
    assert!(error.contains("matrix.csv is no whole Parquet file"), "{error}");
}

#[test]
fn every_algorithm_is_compared_with_the_smallest_suite() {
    let project = Project::empty();
    project.write("fewer.toml", "");
    // Greedy takes the largest test first and then needs both others.
    project.write(
        "m.csv",
        "test,a,b,c,d,e,f\nt::large,0,1,1,1,1,0\nt::left,1,1,1,0,0,0\nt::right,0,0,0,1,1,1\n",
    );
    project.fewer(&["reduce", "import", "m.csv"]).expect(0);
    let built = project.fewer(&["reduce", "build", "--compare", "--format", "json"]).json(0);
    let kept = |name: &str| -> (Value, Value) {
        let of =
            built["algorithms"].as_array().unwrap().iter().find(|each| each["algorithm"] == name).unwrap();
        (of["kept"].clone(), of["lower_bound"].clone())
    };
    assert_eq!(kept("greedy"), (3.into(), 2.into()), "{built}");
    assert_eq!(kept("exact"), (2.into(), 2.into()), "{built}");
    let exact = project.fewer(&["reduce", "build", "--algorithm", "exact", "--time-limit", "5"]).expect(0);
    let gaps: Vec<&str> =
        exact.lines().filter(|line| line.contains("0.00 %") || line.contains("33.33 %")).collect();
    assert_eq!(gaps.len(), 2, "{exact}");
    assert!(exact.contains("2 of 3 tests are kept"), "{exact}");
}

#[test]
fn the_loss_is_told_in_all_requirements_and_for_a_change_in_statements_and_mutants() {
    let project = worked_example();
    // The evolved suite of the example keeps t3 and t4.
    project.write(
        "fewer-reduced.toml",
        "format = \"fewer-reduced/1\"\nkind = \"statements\"\nalgorithm = \"greedy\"\n\
         [[kept]]\ntest = \"t::t3\"\n[[kept]]\ntest = \"t::t4\"\n[[left-out]]\ntest = \"t::t1\"\n[[left-out]]\ntest = \"t::t2\"\n",
    );
    project.write("mutants.csv", "test,requirement\nt::t1,M1\nt::t2,M2\nt::t3,M3\nt::t4,M4\n");
    project.fewer(&["reduce", "import", "mutants.csv", "--kind", "mutants"]).expect(0);
    project.write("selected.txt", "t::t1\nt::t4\n");
    let view =
        project.fewer(&["reduce", "evaluate", "--selected", "selected.txt", "--format", "json"]).json(0);
    let [statements, mutants] = [&view["kinds"][0], &view["kinds"][1]];
    assert_eq!((&statements["kind"], &mutants["kind"]), (&"statements".into(), &"mutants".into()));
    assert_eq!(statements["traditional"]["percent"], 20.0);
    let change = &statements["change"];
    assert_eq!((&change["loss"]["of"], &change["loss"]["lost"]), (&1.into(), &0.into()), "{view}");
    assert_eq!((&change["selected"], &change["selection_of_reduction"]), (&2.into(), &1.into()));
    let lost = &mutants["change"]["loss"];
    assert_eq!(
        (&lost["of"], &lost["lost"], &lost["percent"]),
        (&2.into(), &1.into(), &50.0.into()),
        "{view}"
    );
    let table = project.fewer(&["reduce", "evaluate", "--selected", "selected.txt"]).expect(0);
    assert!(table.contains("2 of 4 tests (50.00 %) are in the reduced suite"), "{table}");
    let csv =
        project.fewer(&["reduce", "evaluate", "--selected", "selected.txt", "--format", "csv"]).expect(0);
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn imported_tests_are_matched_to_recorded_ones_and_the_others_are_listed() {
    let project = Project::small();
    project.settle();
    let record = |test: &str, line: u32| format!("TN:{test}\nSF:src/shape.cpp\nDA:{line},1\nend_of_record\n");
    let tracefile =
        [record("Shape_Perimeter", 12), record("shape_test::Shape.Area", 7), record("Shape_Gone", 9)]
            .concat();
    project.write("coverage.info", &tracefile);
    let import = project.fewer(&["reduce", "import", "coverage.info", "--format", "json"]);
    assert!(
        import.stderr.contains("1 name(s) in the files are no test of the recorded suite"),
        "{}",
        import.stderr
    );
    assert!(import.stderr.contains("\n  Shape_Gone"), "{}", import.stderr);
    let import = import.json(0);
    assert_eq!((&import["tests"], &import["unmatched"]), (&2.into(), &vec!["Shape_Gone"].into()));
    // What nothing is known of stays.
    let built = project.fewer(&["reduce", "build", "--format", "json"]).json(0);
    assert_eq!((&built["kept"], &built["unknown"]), (&7.into(), &5.into()), "{built}");
}

#[test]
fn a_broken_file_is_refused_in_one_sentence() {
    let project = Project::empty();
    project.write("fewer.toml", "");
    project.write("broken.info", "TN:a\nSF:x.c\nDA:one,1\n");
    let error = project.fewer(&["reduce", "import", "broken.info"]).refused(2);
    assert!(error.ends_with("broken.info:3: expected 'DA:LINE,COUNT', found 'DA:one,1'\n"), "{error}");
    let unknown = project.fewer(&["reduce", "build"]).refused(2);
    assert!(unknown.contains("no statements are known: `fewer reduce import FILE`"), "{unknown}");
    let missing = project.fewer(&["reduce", "evaluate"]).refused(2);
    assert!(missing.contains("`fewer reduce build` makes one"), "{missing}");
}

#[test]
fn a_reduced_suite_is_carried_to_tests_that_were_added_removed_and_renamed() {
    let project = Project::small();
    project.settle();
    project.write(
        "fewer-reduced.toml",
        "format = \"fewer-reduced/1\"\nkind = \"statements\"\nalgorithm = \"greedy\"\ncommit = \"0123456789ab\"\n\
         [[kept]]\ntest = \"shape_test::Shape.Area\"\n[[kept]]\ntest = \"shape_test::Shape.Gone\"\n\
         [[left-out]]\ntest = \"shape_test::Shape.Circumference\"\n[[left-out]]\ntest = \"text_test::Text.Shouts\"\n",
    );
    let view = project.fewer(&["reduce", "evolve", "--output", "evolved.toml", "--format", "json"]).json(0);
    assert_eq!((&view["full"], &view["left_out"]), (&7.into(), &1.into()), "{view}");
    assert_eq!(view["removed"], serde_json::json!(["shape_test::Shape.Gone"]));
    // Circumference is called Perimeter now: by its name it is a new test.
    assert!(view["added"].as_array().unwrap().contains(&"shape_test::Shape.Perimeter".into()), "{view}");
    let evolved = fs::read_to_string(project.file("evolved.toml")).unwrap();
    assert!(
        evolved.contains("test = \"shape_test::Shape.Perimeter\"\nreason = \"new since 0123456789\""),
        "{evolved}"
    );
    assert!(!evolved.contains("Shape.Gone") && !evolved.contains("Circumference"), "{evolved}");
}

/// The same statements of every test, whatever the revision.
const COVERAGE: &str = "test,requirement\nshape_test::Shape.Area,A\nshape_test::Shape.Perimeter,P\ntext_test::Shape.Area,S\n\
                        text_test::Text.Reads,F\ntext_test::Text.Shouts,S\ntext_test::Text.Shouts,A\n";

/// Three recorded commits with requirements: the second changes what `Perimeter` reaches, the third only a comment.
fn recorded_history() -> Project {
    let project = small();
    project.write("coverage.csv", COVERAGE);
    project.write(
        "mutants.csv",
        "test,requirement\nshape_test::Shape.Perimeter,M1\ntext_test::Text.Shouts,M2\n",
    );
    for (from, to) in [
        ("int perimeter(", "// Around it.\nint perimeter("),
        ("2 * (width + height)", "width + width + height + height"),
        ("int area(", "// The area.\nint area("),
    ] {
        project.edit("src/shape.cpp", from, to);
        project.make();
        project.commit_all();
        project.settle();
        project.fewer(&["reduce", "import", "coverage.csv"]).expect(0);
        project.fewer(&["reduce", "import", "mutants.csv", "--kind", "mutants"]).expect(0);
    }
    project
}

#[test]
fn the_experiment_compares_four_ways_over_recorded_commits_and_draws_them() {
    let project = recorded_history();
    let arguments = ["reduce", "experiment", "HEAD~2^..HEAD", "--plots", "plots"];
    let view = project.fewer(&[&arguments[..], &["--format", "json"]].concat()).json(0);
    assert_eq!(view["revisions"].as_array().unwrap().len(), 3, "{view}");
    let choices = &view["runs"][0]["choices"];
    let counts = |index: usize| {
        ["full", "reduced", "selected", "selection_of_reduction"]
            .map(|way| choices[index][way].as_u64().unwrap())
    };
    // Shouts covers what both tests called Area cover; two tests are disabled or skipped and so without statements.
    assert_eq!(counts(0), [7, 5, 1, 1], "{view}");
    assert_eq!(counts(1), [7, 5, 0, 0], "{view}");
    let losses = &view["losses"];
    assert_eq!((&losses[0]["kind"], &losses[1]["kind"]), (&"statements".into(), &"mutants".into()));
    assert_eq!(losses[0]["table"]["change_related"][0].as_array().unwrap().len(), 2);
    // At the third commit nothing is selected, so the second one's change counts.
    assert_eq!(losses[0]["table"]["went_back"][2], 1, "{view}");
    let table = project.fewer(&arguments).expect(0);
    assert!(table.contains("Loss in change-related mutants (%)"), "{table}");
    let csv = lines(&project.fewer(&[&arguments[..], &["--format", "csv"]].concat()).expect(0));
    assert_eq!(
        (csv.len(), csv[0].as_str()),
        (4, "reduced_at,commit,full,reduced,selected,selection_of_reduction")
    );
    let plots: Vec<String> = fs::read_dir(project.file("plots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(plots.iter().any(|name| name.starts_with("tests-")), "{plots:?}");
    let losses = fs::read_to_string(project.file("plots/losses.svg")).unwrap();
    assert!(losses.contains("<svg") && losses.contains("change-related mutants"), "{losses}");
    evaluation_goes_back(&project);
}

/// The change of a commit is what differs from its recorded parent; where that is nothing, the one before counts.
fn evaluation_goes_back(project: &Project) {
    project.fewer(&["reduce", "build"]).expect(0);
    let view = project.fewer(&["reduce", "evaluate", "--at", "HEAD", "--format", "json"]).json(0);
    let change = &view["kinds"][0]["change"];
    assert_eq!((&change["went_back"], &change["selected"]), (&1.into(), &1.into()), "{view}");
    assert_eq!((&change["loss"]["of"], &change["loss"]["lost"]), (&1.into(), &0.into()), "{view}");
}

/// The small project with a reduced suite that keeps `Text.Shouts` instead of `Shape.Area`.
fn with_reduced_suite() -> Project {
    let project = small();
    project.settle();
    project.write("coverage.csv", COVERAGE);
    project.fewer(&["reduce", "import", "coverage.csv"]).expect(0);
    project.fewer(&["reduce", "build"]).expect(0);
    project
}

/// The decision about a test in the document of a run.
fn decision<'d>(document: &'d Value, id: &str) -> &'d Value {
    let tests = document["tests"].as_array().unwrap();
    tests.iter().find(|test| test["id"] == id).unwrap_or_else(|| panic!("no {id} in {document}"))
}

#[test]
fn a_reduced_run_leaves_out_redundant_tests_and_says_what_that_may_lose() {
    let project = with_reduced_suite();
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    assert_eq!(project.selected(), ["shape_test::Shape.Area", "text_test::Text.Waits"]);
    let run = project.fewer(&["run", "--reduced"]).expect(0);
    assert!(run.contains("1 ran (1 skipped), 4 reused, 1 left out (disabled) in "), "{run}");
    assert!(
        run.contains("left out by selection: 4; by the reduced suite (fewer-reduced.toml): 1 of 2 selected"),
        "{run}"
    );
    assert!(run.contains("estimated change-related loss: 0.00 % of statements (0 of 0)"), "{run}");
    let document = project.fewer(&["run", "--reduced", "--format", "json"]).json(0);
    let area = decision(&document, "shape_test::Shape.Area");
    assert_eq!((&area["decision"], &area["reason"]), (&"left-out".into(), &"redundant".into()), "{document}");
    assert_eq!(area["evidence"]["because_of"], serde_json::json!(["text_test::Text.Shouts"]));
    assert_eq!(document["summary"]["left_out"], 2, "{document}");
    // What was left out is still due, and without the flag it runs.
    let full = project.fewer(&["run", "--format", "json"]).json(0);
    assert_eq!((&full["summary"]["run"], &full["reduction"]), (&2.into(), &Value::Null), "{full}");
}

#[test]
fn the_estimated_loss_counts_what_only_left_out_tests_satisfy() {
    let project = with_reduced_suite();
    // Shouts is not affected by the change, but as a mutant M3 only Area kills it.
    project.write("mutants.csv", "test,requirement\nshape_test::Shape.Area,M3\ntext_test::Text.Shouts,M2\n");
    project.fewer(&["reduce", "import", "mutants.csv", "--kind", "mutants"]).expect(0);
    project.edit("src/shape.cpp", "width * height", "height * width");
    project.make();
    let run = project.fewer(&["run", "--reduced", "--format", "json"]).json(0);
    let losses = &run["reduction"]["estimated_losses"];
    assert_eq!(
        (&losses[1]["kind"], &losses[1]["lost"], &losses[1]["of"]),
        (&"mutants".into(), &1.into(), &1.into())
    );
    assert_eq!(losses[1]["percent"], 100.0, "{run}");
}

#[test]
fn a_reduced_run_still_runs_known_failures_and_new_tests() {
    let project = with_reduced_suite();
    project.fewer_with(&[("AREA_FAILS", "1")], &["run", "--all"]).expect(1);
    let added = "TEST(Shape, New) { EXPECT_EQ(6, area(3, 2)); }\nTEST(Shape, DISABLED_Volume)";
    project.edit("tests/shape_test.cpp", "TEST(Shape, DISABLED_Volume)", added);
    project.make();
    let document = project.fewer(&["run", "--reduced", "--format", "json"]).json(0);
    assert_eq!(decision(&document, "shape_test::Shape.New")["decision"], "run", "{document}");
    assert_eq!(decision(&document, "shape_test::Shape.Area")["reason"], "flaky", "{document}");
    let missing = project.fewer(&["run", "--reduced=elsewhere.toml"]).refused(2);
    assert!(
        missing.contains("elsewhere.toml") && missing.contains("`fewer reduce build` makes one"),
        "{missing}"
    );
}
