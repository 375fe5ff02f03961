//! `fewer gc`: drops what is old from the records.

use fewer_console::{Console, ExitCode};
use fewer_report::{Table, document};
use fewer_store::GcOptions as StoreOptions;

use crate::cli::{Format, GcOptions, Global};
use crate::commands::status::bytes;
use crate::session::Session;

pub fn execute(global: &Global, console: &Console, options: &GcOptions) -> anyhow::Result<ExitCode> {
    let session = Session::look(global, console)?;
    let report = {
        let _phase = session.timings.phase("drop what is old");
        session
            .store()
            .gc(&StoreOptions { keep_states: options.keep_states, older_than: options.older_than })?
    };
    let text = match options.format {
        Format::Json => document("fewer-gc/1", &report),
        Format::Text => {
            let mut table = Table::new(&[false, true]);
            for (name, count) in [
                ("states dropped", report.states),
                ("runs dropped", report.runs),
                ("outcomes dropped", report.outcomes),
                ("tests dropped", report.tests),
                ("cached summaries dropped", report.blobs),
            ] {
                table.row([name.to_string(), count.to_string()]);
            }
            table.row(["size before".to_string(), bytes(report.bytes_before)]);
            table.row(["size after".to_string(), bytes(report.bytes_after)]);
            table.text()
        }
    };
    console.data(&text)?;
    session.finish();
    Ok(ExitCode::Green)
}
