//! The test units of a library as C++: GoogleTest tests of every kind, which pass.

use std::fmt::Write;

use crate::generate::Parameters;
use crate::generate::layout::{FORMULA_NAMES, FormulaRef, Kind, Layout, Unit};
use crate::generate::unit_text::{function, holes, includes};

/// One source file of a test executable.
#[derive(Clone, Debug)]
pub(super) struct TestUnit {
    pub text: String,
    pub tests: usize,
}

/// The inputs of a value-parameterised test.
const INPUTS: [i64; 4] = [0, 7, 96, 1234];
const TYPES: usize = 3;

/// The fixture that all tests of a library share.
pub(super) fn fixture(layout: &Layout, library: usize) -> String {
    holes(layout, library, 0).fill(include_str!("../../templates/fixture.h"))
}

/// The `number`-th of the library's test units: it tests every unit whose turn it is.
pub(super) fn test_unit(layout: &Layout, parameters: &Parameters, library: usize, number: usize) -> TestUnit {
    let test_units = parameters.executables_per_library * parameters.test_units_per_executable;
    let units = &layout.libraries[library].units;
    let covered: Vec<usize> = (1..units.len()).filter(|unit| (unit - 1) % test_units == number).collect();
    let container = units.iter().position(|unit| unit.kind == Kind::Container).expect("every kind occurs");
    let mut tests = 0;
    let mut text = String::new();
    for &unit in &covered {
        let (unit_tests, count) = unit_tests(layout, library, unit);
        text.push_str(&unit_tests);
        tests += count;
    }
    let first = FormulaRef { library, unit: covered[0], formula: number % FORMULA_NAMES.len() };
    let cases: Vec<String> = INPUTS
        .iter()
        .map(|&input| {
            let case = format!("{}_tests::Case", layout.libraries[library].name);
            format!("{case}{{{input}, {}}}", layout.value(first, input))
        })
        .collect();
    let included = covered.iter().chain([&container]).map(|&unit| FormulaRef { library, unit, formula: 0 });
    let (open, close) = [("", ""), ("namespace {\n", "}  // namespace")][number % 2];
    let mut holes = holes(layout, library, container);
    holes
        .set("includes", includes(layout, included))
        .set("tests", text)
        .set("Suite", format!("{}{number}", capitalised(layout.libraries[library].name)))
        .set("open", open)
        .set("close", close)
        .set("function", function(layout, first))
        .set("cases", cases.join(",\n                                           "))
        .set("Container", &units[container].class)
        .set("one_digit", units[container].numbers[0]);
    let text = holes.fill(include_str!("../../templates/test_unit.cpp"));
    TestUnit { text, tests: tests + 2 * INPUTS.len() + 2 * TYPES }
}

/// The tests of one unit, and how many they are.
fn unit_tests(layout: &Layout, library: usize, unit: usize) -> (String, usize) {
    let this = &layout.libraries[library].units[unit];
    let mut holes = holes(layout, library, unit);
    let row = this.rows.get(this.argument as usize % this.rows.len().max(1));
    holes
        .set("Suite", capitalised(layout.libraries[library].name) + &this.class)
        .set("called", called_value(layout, this))
        .set("value", row.map_or(0, |row| row.value))
        .set("total", this.rows.iter().map(|row| row.value).sum::<i64>());
    if let Some(row) = row {
        holes.set("key", &row.key);
    }
    let mut text = holes.fill(match this.kind {
        Kind::Registry => unreachable!("a registry is tested through its stages"),
        Kind::Stage => include_str!("../../templates/stage_test.cpp"),
        Kind::Table => include_str!("../../templates/table_test.cpp"),
        Kind::Container => include_str!("../../templates/container_test.cpp"),
        Kind::Parser => include_str!("../../templates/parser_test.cpp"),
        Kind::Service => include_str!("../../templates/service_test.cpp"),
    });
    for (index, name) in FORMULA_NAMES.iter().enumerate() {
        let formula = FormulaRef { library, unit, formula: index };
        let (x, y) = (this.argument, this.argument * 3 + 1);
        holes
            .set("Formula", capitalised(name))
            .set("function", function(layout, formula))
            .set("x_value", layout.value(formula, x))
            .set("y", y)
            .set("y_value", layout.value(formula, y));
        let _ = write!(text, "\n{}", holes.fill(include_str!("../../templates/formula_test.cpp")));
    }
    let tests = text.lines().filter(|line| line.starts_with("TEST")).count();
    (text, tests)
}

/// What the call that a unit's class makes gives for its argument.
fn called_value(layout: &Layout, unit: &Unit) -> i64 {
    unit.call.map_or(unit.argument * 3, |call| layout.value(call, unit.argument))
}

fn capitalised(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}
