//! A unit of the layout as C++: its header and its source file.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::generate::layout::{Body, FORMULA_NAMES, Formula, FormulaRef, INLINE_FORMULA, Kind, Layout, Unit};
use crate::generate::template::Holes;

/// The text of `<library>/<unit>.h`.
pub(super) fn header(layout: &Layout, library: usize, unit: usize) -> String {
    let this = &layout.libraries[library].units[unit];
    let mut holes = holes(layout, library, unit);
    holes.set(
        "includes",
        includes(layout, this.formulas.iter().skip(INLINE_FORMULA).filter_map(|f| f.callee)),
    );
    let mut declarations = String::new();
    for (index, formula) in this.formulas.iter().enumerate() {
        let reference = FormulaRef { library, unit, formula: index };
        let _ = match index {
            INLINE_FORMULA => writeln!(declarations, "inline {}", definition(layout, reference, formula, "")),
            _ => writeln!(declarations, "{};", signature(layout, reference)),
        };
    }
    holes.set("declarations", declarations);
    holes.fill(match this.kind {
        Kind::Registry => include_str!("../../templates/registry.h"),
        Kind::Stage => include_str!("../../templates/stage.h"),
        Kind::Table => include_str!("../../templates/table.h"),
        Kind::Container => include_str!("../../templates/container.h"),
        Kind::Parser => include_str!("../../templates/parser.h"),
        Kind::Service => include_str!("../../templates/service.h"),
    })
}

/// The text of `<library>/<unit>.cpp`.
pub(super) fn source(layout: &Layout, library: usize, unit: usize) -> String {
    let this = &layout.libraries[library].units[unit];
    let mut holes = holes(layout, library, unit);
    let callees = this.formulas.iter().take(INLINE_FORMULA).filter_map(|f| f.callee).chain(this.call);
    holes.set("includes", includes(layout, callees));
    let mut definitions = String::new();
    for (index, formula) in this.formulas.iter().enumerate().take(INLINE_FORMULA) {
        let reference = FormulaRef { library, unit, formula: index };
        let revision = if index == 0 { " + (kRevision - 1)" } else { "" };
        let _ = writeln!(definitions, "{}", definition(layout, reference, formula, revision));
    }
    holes.set("definitions", definitions);
    holes.fill(match this.kind {
        Kind::Registry => include_str!("../../templates/registry.cpp"),
        Kind::Stage => include_str!("../../templates/stage.cpp"),
        Kind::Table => include_str!("../../templates/table.cpp"),
        Kind::Container => include_str!("../../templates/container.cpp"),
        Kind::Parser => include_str!("../../templates/parser.cpp"),
        Kind::Service => include_str!("../../templates/service.cpp"),
    })
}

/// What the templates of a unit and of its tests have in common.
pub(super) fn holes(layout: &Layout, library: usize, unit: usize) -> Holes {
    let library_name = layout.libraries[library].name;
    let this = &layout.libraries[library].units[unit];
    let base: Option<&Unit> = this.base.map(|base| &layout.libraries[library].units[base]);
    let mut holes = Holes::default();
    for (hole, number) in ["a", "b", "c", "d"].into_iter().zip(this.numbers) {
        holes.set(hole, number);
    }
    let call = this.call.map_or("value * 3".to_string(), |call| format!("{}(value)", function(layout, call)));
    let rows: String = this
        .rows
        .iter()
        .map(|row| format!("    {{\"{}\", {}, {:?}}},\n", row.key, row.value, row.weight))
        .collect();
    holes
        .set("library", library_name)
        .set("unit", &this.name)
        .set("Class", &this.class)
        .set("code", 100 + library)
        .set("Base", base.map_or("Stage", |base| &base.class))
        .set("base_header", format!("{library_name}/{}.h", base.map_or("registry", |base| &base.name)))
        .set("x", this.argument)
        .set("key", this.key)
        .set("plus", this.signs.0)
        .set("times", this.signs.1)
        .set("count", this.rows.len())
        .set("rows", rows)
        .set("call", call);
    holes
}

/// A generated function's full name.
pub(super) fn function(layout: &Layout, reference: FormulaRef) -> String {
    let library = layout.libraries[reference.library].name;
    format!("atlas::{library}::{}_{}", layout.unit(reference).name, FORMULA_NAMES[reference.formula])
}

/// One `#include` per unit that these formulas belong to.
pub(super) fn includes(layout: &Layout, formulas: impl Iterator<Item = FormulaRef>) -> String {
    let headers: BTreeSet<String> = formulas
        .map(|formula| {
            let library = layout.libraries[formula.library].name;
            format!("#include \"{library}/{}.h\"\n", layout.unit(formula).name)
        })
        .collect();
    headers.into_iter().collect()
}

fn signature(layout: &Layout, reference: FormulaRef) -> String {
    format!(
        "std::int64_t {}_{}(std::int64_t x)",
        layout.unit(reference).name,
        FORMULA_NAMES[reference.formula]
    )
}

fn definition(layout: &Layout, reference: FormulaRef, formula: &Formula, addend: &str) -> String {
    let body = match &formula.body {
        Body::Linear { factor, offset, modulus } => {
            format!("  const std::int64_t result = (x * {factor} + {offset}) % {modulus};\n")
        }
        Body::Switch { values } => {
            let mut text = format!("  std::int64_t result = 0;\n  switch (x % {}) {{\n", values.len());
            for (case, value) in values.iter().enumerate() {
                let _ = writeln!(text, "    case {case}: result = {value}; break;");
            }
            text + "  }\n"
        }
        Body::Sum { terms, step } => format!(
            "  std::vector<std::int64_t> terms;\n  for (std::int64_t term = 0; term < {terms}; ++term) \
             terms.push_back(x + term * {step});\n  std::int64_t result = 0;\n  \
             for (std::int64_t term : terms) result += term;\n"
        ),
        Body::Text { width, factor } => format!(
            "  std::string text = std::to_string(x);\n  text.append({width}, '#');\n  \
             const std::int64_t result = static_cast<std::int64_t>(text.size()) * {factor};\n"
        ),
    };
    let callee =
        formula.callee.map_or(String::new(), |callee| format!(" + {}(x % 97)", function(layout, callee)));
    format!("{} {{\n{body}  return result{addend}{callee};\n}}\n", signature(layout, reference))
}
