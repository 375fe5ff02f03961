//! A kernel between two Arrow IPC streams, such as standard input and standard output.

use std::io::{BufReader, BufWriter, Read, Write};

use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use super::Kernel;
use crate::error::LabError;

/// Pipes all batches through; the output is a whole stream, with at least one batch.
pub fn pipe(kernel: &mut impl Kernel, input: impl Read, output: impl Write) -> Result<(), LabError> {
    let reader = StreamReader::try_new(BufReader::new(input), None).map_err(unreadable)?;
    // The schema of the output is known with its first batch.
    let mut output = Some(BufWriter::new(output));
    let mut writer = None;
    let mut emit = |batch: &arrow_array::RecordBatch| -> Result<(), LabError> {
        if let Some(output) = output.take() {
            writer = Some(StreamWriter::try_new(output, &batch.schema()).map_err(unwritable)?);
        }
        writer.as_mut().map_or(Ok(()), |writer| writer.write(batch)).map_err(unwritable)
    };
    for batch in reader {
        if let Some(ready) = kernel.push(&batch.map_err(unreadable)?)? {
            emit(&ready)?;
        }
    }
    emit(&kernel.finish()?)?;
    let Some(mut writer) = writer else { return Ok(()) };
    writer.finish().map_err(unwritable)?;
    let output = writer.into_inner().map_err(unwritable)?;
    output
        .into_inner()
        .map_err(|error| unwritable(error.into_error().into()))?
        .flush()
        .map_err(|error| unwritable(error.into()))
}

fn unreadable(error: ArrowError) -> LabError {
    LabError::Kernel(format!("{error}; an Arrow IPC stream is needed"))
}

fn unwritable(error: ArrowError) -> LabError {
    LabError::Kernel(format!("its output cannot be written: {error}"))
}
