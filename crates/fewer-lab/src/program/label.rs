//! `fewer simulate label`: the label of every row, for other programs.

use fewer_console::{Console, ExitCode, TableFormat};
use fewer_lab::Table;
use fewer_lab::engine::{RowCounts, embedded};
use fewer_lab::records::History;
use fewer_lab::{Cell, Column};
use fewer_report::document;

use super::meter::Meter;
use super::options::LabelOptions;
use super::{conclude, engine, text_of};

pub fn execute(console: &Console, options: &LabelOptions) -> anyhow::Result<ExitCode> {
    let history = History::open(&options.history)?;
    let engine = engine(&options.engine, &options.output);
    let meter = Meter::new(console)?;
    let labelled = meter.concluded(embedded::label(&history, &options.output, &engine, &meter));
    let counts = conclude(console, &options.engine, &engine, labelled)?;
    console.data(&match options.format {
        TableFormat::Table => text_of(&table(&counts)),
        TableFormat::Json => document("fewer-simulate-label/1", &counts),
        TableFormat::Csv => table(&counts).csv(),
    })?;
    Ok(ExitCode::Green)
}

/// Where the rows went.
pub fn table(counts: &RowCounts) -> Table {
    let mut table =
        Table::new("rows", "Where the rows went", &[("rows", Column::TEXT), ("count", Column::INTEGER)]);
    for (what, count) in [
        ("all", counts.rows),
        ("safe", counts.safe),
        ("maybe-unsafe", counts.maybe_unsafe),
        ("unsafe", counts.unsafe_rows),
        ("excluded: no earlier result", counts.no_earlier_result),
        ("excluded: after the last result", counts.after_last_result),
        ("further executions at one commit", counts.reruns),
    ] {
        table.row([Cell::from(what), count.into()]);
    }
    table
}
