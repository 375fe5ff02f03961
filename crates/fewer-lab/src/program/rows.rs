//! `fewer-lab rows`: any Parquet file as CSV on standard output, for programs that do without Parquet.

use std::io::{self, Write};

use fewer_console::ExitCode;
use fewer_lab::import::parquet_as_csv;

use super::options::RowsOptions;

pub fn execute(options: &RowsOptions) -> anyhow::Result<ExitCode> {
    let mut output = io::stdout().lock();
    parquet_as_csv(&options.file, |lines| {
        match output.write_all(lines).and_then(|()| output.flush()) {
            Ok(()) => Ok(true),
            // A reader that went away is not our problem.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(anyhow::Error::new(error).context("cannot write to standard output")),
        }
    })?;
    Ok(ExitCode::Green)
}
