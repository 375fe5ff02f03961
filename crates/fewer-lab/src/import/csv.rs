//! CSV files with a line of column names.

use std::path::{Path, PathBuf};

use ::csv::{ReaderBuilder, StringRecord};

use super::files_of;
use super::intake::{Intake, IntakeRow};
use super::mapping::{Field, Mapping, Places, time};
use crate::engine::Watch;
use crate::error::LabError;

/// Rows between looks at the flag of Ctrl-C.
const ROWS_AT_A_TIME: u64 = 1 << 14;

/// Takes files in, one after the other; a directory stands for the `.csv` files in it.
pub fn import_csv(
    inputs: &[PathBuf],
    delimiter: u8,
    mapping: &Mapping,
    intake: &mut Intake<'_>,
    watch: &dyn Watch,
) -> Result<(), LabError> {
    for path in files_of(inputs, "csv")? {
        import_file(&path, delimiter, mapping, intake, watch)?;
    }
    Ok(())
}

fn import_file(
    path: &Path,
    delimiter: u8,
    mapping: &Mapping,
    intake: &mut Intake<'_>,
    watch: &dyn Watch,
) -> Result<(), LabError> {
    let file = fewer_files::open(path).map_err(LabError::io("read", path))?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(file);
    let names = reader.headers().map_err(|error| unreadable(path, error))?.clone();
    if names.is_empty() {
        return Err(LabError::Empty { path: path.to_path_buf() });
    }
    let places = mapping.places(path, &names.iter().map(str::trim).collect::<Vec<_>>())?;
    let mut record = StringRecord::new();
    let mut times = Times::default();
    let mut unreported = 0;
    loop {
        let row = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {
                let row = record.position().map_or(row, ::csv::Position::line);
                match read(&record, &places, mapping, &mut times) {
                    Ok(read) => intake.push(path, row, &read)?,
                    Err(problem) => intake.refuse(path, row, problem),
                }
            }
            Err(error) => match error.position().map(::csv::Position::line) {
                Some(row) => intake.refuse(path, row, said(&error)),
                None => return Err(unreadable(path, error)),
            },
        }
        unreported += 1;
        if unreported == ROWS_AT_A_TIME {
            watch.go_on()?;
            watch.advance(std::mem::take(&mut unreported));
        }
    }
    watch.advance(unreported);
    Ok(())
}

/// The time that was read last: rows of a commit have the same.
#[derive(Default)]
struct Times {
    text: String,
    time: i64,
}

fn read<'r>(
    record: &'r StringRecord,
    places: &Places,
    mapping: &Mapping,
    times: &mut Times,
) -> Result<IntakeRow<'r>, String> {
    let cell = |field| places.of(field).and_then(|place| record.get(place)).unwrap_or_default();
    let optional = |field| Some(cell(field)).filter(|text| !text.is_empty());
    if let Some(text) = optional(Field::Time)
        && times.text != text
    {
        times.time = time(text)?;
        times.text.clear();
        times.text.push_str(text);
    }
    Ok(IntakeRow {
        commit: cell(Field::Commit),
        time: optional(Field::Time).map(|_| times.time),
        author: optional(Field::Author),
        target: cell(Field::Target),
        outcome: mapping.outcome(cell(Field::Result))?,
        duration_s: mapping.duration(cell(Field::Duration))?,
        pre_submit: mapping.pre_submit(cell(Field::PreSubmit))?,
        fingerprint: optional(Field::Fingerprint),
    })
}

/// Without the place, which is told beside it.
fn said(error: &::csv::Error) -> String {
    match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} cells, but the first line has {expected_len}")
        }
        ::csv::ErrorKind::Utf8 { .. } => "it is not text in UTF-8".to_string(),
        _ => error.to_string(),
    }
}

fn unreadable(path: &Path, error: ::csv::Error) -> LabError {
    let problem = error.to_string();
    match error.into_kind() {
        ::csv::ErrorKind::Io(source) => LabError::io("read", path)(source),
        _ => LabError::Input { path: path.to_path_buf(), problem },
    }
}
