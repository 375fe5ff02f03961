//! Every importer against files that the real tools wrote, and its complaints about files that are not.

mod workshop;

use std::path::{Path, PathBuf};

use fewer_core::TestId;
use fewer_core::reduction::{RequirementKind, Suite};
use fewer_requirements::{Format, KnownTests, OwnCode, Source, Stored};
use workshop::Workshop;

/// The suite of a file, under the names of the tool.
fn suite(format: Format, path: &Path, root: Option<&Path>) -> Suite {
    let detected = Format::detect(path, Some(format.kind())).unwrap();
    assert_eq!(detected, Some(format), "{}", path.display());
    let mut findings = format.read(path).unwrap();
    findings.trim(root.and_then(Path::to_str), &OwnCode::by_convention());
    findings.matched(|name| vec![KnownTests::unknown(name, "t")]).suite
}

/// Test by test what it satisfies.
fn shown(suite: &Suite) -> Vec<(String, Vec<String>)> {
    let row = |test: usize| {
        let names = suite.matrix.row(test).iter().map(|&requirement| suite.requirement(requirement as usize));
        (suite.tests[test].to_string(), names.collect())
    };
    (0..suite.tests.len()).map(row).collect()
}

fn satisfied_by<'s>(shown: &'s [(String, Vec<String>)], test: &str) -> &'s [String] {
    &shown.iter().find(|(name, _)| name == test).unwrap_or_else(|| panic!("no {test} in {shown:?}")).1
}

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/requirements").join(path)
}

#[test]
fn coverage_py_with_contexts_gives_lines_per_test_with_and_without_branches() {
    let workshop = Workshop::with_python();
    workshop.write(
        "shapes.py",
        "def area(width, height):\n    if width < 0:\n        raise ValueError('negative')\n    return width * height\n\n\n\
         def perimeter(width, height):\n    total = width + height\n    return 2 * total\n",
    );
    workshop.write(
        "tests/test_shapes.py",
        "import pytest\nfrom shapes import area, perimeter\n\ndef test_area():\n    assert area(2, 3) == 6\n\n\
         def test_negative():\n    with pytest.raises(ValueError):\n        area(-1, 2)\n\n\
         @pytest.mark.parametrize('width', [1, 2])\ndef test_perimeter(width):\n    assert perimeter(width, 1) == 2 * width + 2\n",
    );
    for branches in [&[][..], &["--cov-branch"]] {
        let arguments = [&["-m", "pytest", "-q", "--cov=.", "--cov-context=test"], branches].concat();
        workshop.run(workshop.python().to_str().unwrap(), &arguments);
        let suite = suite(Format::CoveragePy, &workshop.file(".coverage"), Some(workshop.path()));
        let shown = shown(&suite);
        assert_eq!(shown.len(), 4, "{shown:?}");
        assert_eq!(satisfied_by(&shown, "tests/test_shapes.py::test_area"), ["shapes.py:2", "shapes.py:4"]);
        assert_eq!(
            satisfied_by(&shown, "tests/test_shapes.py::test_negative"),
            ["shapes.py:2", "shapes.py:3"]
        );
        assert_eq!(
            satisfied_by(&shown, "tests/test_shapes.py::test_perimeter[2]"),
            ["shapes.py:8", "shapes.py:9"]
        );
    }
    workshop.run(workshop.python().to_str().unwrap(), &["-m", "pytest", "-q", "--cov=."]);
    let error = Format::CoveragePy.read(&workshop.file(".coverage")).unwrap_err().to_string();
    assert!(error.contains("expected contexts that name tests (pytest --cov-context=test"), "{error}");
}

#[test]
fn lcov_tracefiles_of_gcov_give_lines_per_test() {
    let workshop = Workshop::empty();
    workshop.write(
        "shape.cpp",
        "#include <cstdlib>\nint area(int w, int h) {\n    return w * h;\n}\nint perimeter(int w, int h) {\n    return 2 * (w + h);\n}\n\
         int main(int argc, char** argv) {\n    return argc > 1 ? area(2, std::atoi(argv[1])) : perimeter(1, 1);\n}\n",
    );
    workshop.run("g++", &["--coverage", "-O0", "shape.cpp", "-o", "shape"]);
    for (test, argument) in [("Shape_Area", Some("0")), ("Shape_Perimeter", None)] {
        workshop.run("lcov", &["-q", "-z", "-d", "."]);
        workshop.run_any("./shape", argument.as_slice());
        let tracefile = format!("{test}.info");
        workshop.run("lcov", &["-q", "-c", "-d", ".", "-t", test, "-o", &tracefile]);
    }
    workshop.run("lcov", &["-q", "-a", "Shape_Area.info", "-a", "Shape_Perimeter.info", "-o", "all.info"]);
    let suite = suite(Format::Lcov, &workshop.file("all.info"), Some(workshop.path()));
    let shown = shown(&suite);
    let area = ["shape.cpp:2", "shape.cpp:3", "shape.cpp:8", "shape.cpp:9"];
    let perimeter = ["shape.cpp:5", "shape.cpp:6", "shape.cpp:8", "shape.cpp:9"];
    assert_eq!(satisfied_by(&shown, "t::Shape_Area"), area);
    assert_eq!(satisfied_by(&shown, "t::Shape_Perimeter"), perimeter);
    let known =
        KnownTests::new([TestId::new("shape_test", "Shape.Area"), TestId::new("shape_test", "Shape.Other")]);
    let findings = Format::Lcov.read(&workshop.file("all.info")).unwrap();
    let matched = findings.matched(|name| known.find(name).into_iter().collect());
    assert_eq!(matched.suite.tests, [TestId::new("shape_test", "Shape.Area")]);
    assert_eq!(matched.unmatched, ["Shape_Perimeter"]);
}

#[test]
fn pit_gives_killed_mutants_and_covered_blocks_per_method() {
    let mutants = shown(&suite(Format::PitMutations, &testdata("pit/mutations.xml"), None));
    let names: Vec<&str> = mutants.iter().map(|(test, _)| test.as_str()).collect();
    let expected = ["addsUp", "givesDiscount", "keepsPrices", "refusesNegativeCounts", "startsEmpty"]
        .map(|method| format!("t::shop.CartTest#{method}"));
    assert_eq!(names, expected);
    let multiplication = "shop.Cart:10 MathMutator [20 3] in add(II)V".to_string();
    assert!(satisfied_by(&mutants, "t::shop.CartTest#addsUp").contains(&multiplication), "{mutants:?}");
    assert!(!satisfied_by(&mutants, "t::shop.CartTest#keepsPrices").contains(&multiplication));

    let blocks = shown(&suite(Format::PitLines, &testdata("pit/linecoverage.xml"), None));
    let refused = "shop.Cart:add(II)V block 1".to_string();
    let covering: Vec<&str> = blocks
        .iter()
        .filter(|(_, blocks)| blocks.contains(&refused))
        .map(|(test, _)| test.as_str())
        .collect();
    assert_eq!(covering, ["t::shop.CartTest#refusesNegativeCounts"]);
    assert!(
        blocks.iter().flat_map(|(_, blocks)| blocks).all(|block| block.starts_with("shop.Cart:")),
        "{blocks:?}"
    );
}

#[test]
fn jacoco_reports_are_one_test_each() {
    let adds = shown(&suite(Format::Jacoco, &testdata("jacoco/shop.CartTest#addsUp.xml"), None));
    assert_eq!(adds.len(), 1);
    let lines = satisfied_by(&adds, "t::shop.CartTest#addsUp");
    assert!(lines.contains(&"shop/Cart.java:10".to_string()), "{lines:?}");
    assert!(!lines.contains(&"shop/Cart.java:8".to_string()), "{lines:?}");
}

#[test]
fn stryker_gives_killed_mutants_and_covered_places() {
    let path = testdata("stryker/mutation.json");
    let killed = shown(&suite(Format::Stryker, &path, None));
    assert_eq!(killed.len(), 4);
    let refusing = satisfied_by(&killed, "t::refuses negative counts");
    assert!(
        refusing.iter().any(|mutant| mutant.starts_with("cart.js:4:") && mutant.contains("BlockStatement"))
    );
    let survivor = "EqualityOperator #4";
    assert!(killed.iter().flat_map(|(_, mutants)| mutants).all(|mutant| !mutant.ends_with(survivor)));
    let covered = shown(&suite(Format::StrykerCoverage, &path, None));
    assert!(satisfied_by(&covered, "t::adds up").contains(&"cart.js:4:9".to_string()), "{covered:?}");
    assert!(Format::Stryker.read(&path).unwrap().notes.is_empty());
}

#[test]
fn cargo_mutants_gives_caught_mutants_per_failing_test() {
    let caught = shown(&suite(Format::CargoMutants, &testdata("cargo-mutants/outcomes.json"), None));
    let tests: Vec<&str> = caught.iter().map(|(test, _)| test.as_str()).collect();
    assert_eq!(tests, ["shop::tests::adds_up", "shop::tests::gives_discount", "shop::tests::starts_empty"]);
    let nothing_added = "src/lib.rs:9:9: replace Cart::add with ()".to_string();
    assert!(satisfied_by(&caught, "shop::tests::adds_up").contains(&nothing_added), "{caught:?}");
    assert!(satisfied_by(&caught, "shop::tests::gives_discount").contains(&nothing_added));
    assert!(!satisfied_by(&caught, "shop::tests::starts_empty").contains(&nothing_added));
}

#[test]
fn a_matrix_is_read_from_pairs_and_from_columns() {
    let workshop = Workshop::empty();
    workshop.write("pairs.csv", "test,requirement\nt::a,R1\nt::a,R2\n\"t::b\",R2\n");
    workshop.write("columns.csv", "test,R1,R2\nt::a,1,1\nt::b,0,1\n");
    let [pairs, columns] = ["pairs.csv", "columns.csv"]
        .map(|name| shown(&suite(Format::Csv(RequirementKind::Mutants), &workshop.file(name), None)));
    assert_eq!(pairs, columns);
    assert_eq!(satisfied_by(&pairs, "t::b"), ["R2"]);
}

#[test]
fn broken_files_are_refused_with_file_line_and_what_was_expected() {
    use RequirementKind::Statements;
    let workshop = Workshop::empty();
    for (format, text, expected) in [
        (Format::Lcov, "TN:a\nSF:x.c\nDA:x,1\n", ":3: expected 'DA:LINE,COUNT', found 'DA:x,1'"),
        (Format::Lcov, "TN:a\nDA:1,1\n", ":2: expected 'SF:FILE' before the first 'DA:', found 'DA:1,1'"),
        (Format::Lcov, "TN:a\nSF:x.c\nDA:1,1\n", ": expected 'end_of_record' at the end"),
        (Format::Lcov, "hello\n", ":1: expected a record of a tracefile"),
        (Format::Lcov, "TN:\nSF:x.c\nDA:1,1\nend_of_record\n", ": expected 'TN:' records that name tests"),
        (Format::CoveragePy, "hello", ": expected a data file of coverage.py"),
        (Format::PitMutations, "<mutations>\n<mutation>", ":2: expected a mutation report of PIT"),
        (Format::PitMutations, "<html></html>", ": expected a mutation report of PIT"),
        (Format::PitLines, "<coverage>\n\n<block method='f()'>", ":3: expected <block classname='...'>"),
        (
            Format::Jacoco,
            "<report name='x'>\n<line nr='1' ci='1'/></report>",
            ":2: expected <line> in a <sourcefile>",
        ),
        (
            Format::Jacoco,
            "<report>\n<package name='p'><sourcefile name='A.java'>\n<line nr='one' ci='1'/>",
            ":3: expected a number as nr of <line>, found 'one'",
        ),
        (Format::Stryker, "{\n\"files\": []\n}", ":2: expected a mutation-testing-report"),
        (Format::CargoMutants, "{}", ":1: expected 'outcomes.json' of cargo-mutants"),
        (Format::Csv(Statements), "a,b\n", ":1: expected the columns 'test,requirement'"),
        (Format::Csv(Statements), "test,R1\na,2\n", ":2: expected 0 or 1, found '2'"),
        (Format::Csv(Statements), "test,R1\na,1\nb,1,1\n", ":3: expected lines of CSV"),
    ] {
        workshop.write("broken", text);
        let path = workshop.file("broken");
        let error = format.read(&path).unwrap_err().to_string();
        let rest = error.strip_prefix(path.to_str().unwrap()).unwrap_or_else(|| panic!("{error}"));
        assert!(rest.starts_with(expected), "{format:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let missing = Format::Lcov.read(&workshop.file("missing")).unwrap_err().to_string();
    assert!(missing.contains("missing: cannot be read: No such file"), "{missing}");
}

#[test]
fn what_is_stored_comes_back_and_damage_is_noticed() {
    let mut suite = suite(Format::PitMutations, &testdata("pit/mutations.xml"), None);
    suite.durations[1] = Some(0.25);
    let source = Source {
        commit: Some("0123456789".into()),
        dirty: false,
        at: "2026-11-15T20:15:04Z".into(),
        from: vec!["pit-mutations mutations.xml".into()],
    };
    let stored = Stored { source, suite };
    let bytes = stored.encode();
    assert_eq!(Stored::decode(&bytes).unwrap(), stored);
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    assert!(Stored::decode(&damaged).unwrap_err().contains("damaged"));
    let newer = [b"fewer-requirements/2\n", &bytes[..]].concat();
    assert!(Stored::decode(&newer).unwrap_err().contains("newer fewer"));
    assert!(Stored::decode(b"hello").unwrap_err().contains("no requirements"));
}
