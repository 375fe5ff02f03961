//! `fewer simulate clean`: flaky results out, and the table of where transitions came from.

use fewer_console::{Console, ExitCode, TableFormat};
use fewer_lab::clean::{CleanOptions as Options, Oracle, clean};
use fewer_lab::records::History;

use super::meter::Meter;
use super::options::CleanOptions;
use super::ranking::pass_on_source;
use super::{conclude, engine, text_of};

pub fn execute(console: &Console, options: &CleanOptions) -> anyhow::Result<ExitCode> {
    let history = History::open(&options.history)?;
    let oracle = options.flaky.as_deref().map(Oracle::read).transpose()?.unwrap_or_default();
    let engine = engine(&options.engine, &options.output);
    let how = Options { oracle, most_transitions: options.max_transitions, engine: engine.clone() };
    let meter = Meter::new(console)?;
    let cleaned = meter.concluded(clean(&history, &options.output, &how, &meter));
    let report = conclude(console, &options.engine, &engine, cleaned)?;
    pass_on_source(&options.history, &options.output)?;
    let table = report.sources.table();
    console.data(&match options.format {
        TableFormat::Table => format!(
            "{}\n{} of {} rows are left; {} agreeing reruns were merged\n",
            text_of(&table),
            report.rows_out,
            report.rows_in,
            report.sources.merged
        ),
        TableFormat::Json => serde_json::to_string_pretty(&report)? + "\n",
        TableFormat::Csv => table.csv(),
    })?;
    Ok(ExitCode::Green)
}
