//! Columns of other programs' Parquet files, as the text and the times that they stand for.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::mapping::time;
use crate::records::{Strings, microseconds};

/// A column as it is met.
pub enum Cells<'b> {
    Absent,
    Strings(Strings<'b>),
    Times { times: Vec<i64>, column: &'b ArrayRef },
    Integers { numbers: Vec<i64>, column: &'b ArrayRef },
    Numbers { numbers: Vec<f64>, column: &'b ArrayRef },
    Truths(&'b arrow_array::BooleanArray),
}

impl<'b> Cells<'b> {
    /// `None` for nested columns and other kinds that no history has.
    pub fn of(column: &'b ArrayRef) -> Option<Cells<'b>> {
        if let Some(strings) = Strings::of(column) {
            return Some(Cells::Strings(strings));
        }
        let mut times = Vec::new();
        if microseconds(column, &mut times) {
            return Some(Cells::Times { times, column });
        }
        let integers = |numbers: Vec<i64>| Some(Cells::Integers { numbers, column });
        let numbers = |numbers: Vec<f64>| Some(Cells::Numbers { numbers, column });
        macro_rules! widened {
            ($kind:ty) => {
                column.as_primitive::<$kind>().values().iter().map(|&value| value.into()).collect()
            };
        }
        match column.data_type() {
            DataType::Int8 => integers(widened!(Int8Type)),
            DataType::Int16 => integers(widened!(Int16Type)),
            DataType::Int32 => integers(widened!(Int32Type)),
            DataType::Int64 => integers(widened!(Int64Type)),
            DataType::UInt8 => integers(widened!(UInt8Type)),
            DataType::UInt16 => integers(widened!(UInt16Type)),
            DataType::UInt32 => integers(widened!(UInt32Type)),
            DataType::Float32 => numbers(widened!(Float32Type)),
            DataType::Float64 => numbers(widened!(Float64Type)),
            DataType::Boolean => column.as_boolean_opt().map(Cells::Truths),
            _ => None,
        }
    }

    /// A cell as text, in `buffer` where it is none.
    pub fn text<'t>(&self, row: usize, buffer: &'t mut String) -> Option<&'t str>
    where
        'b: 't,
    {
        use std::fmt::Write;
        buffer.clear();
        let written = match self {
            Cells::Absent => return None,
            Cells::Strings(strings) => return strings.get(row).filter(|text| !text.is_empty()),
            Cells::Times { times, column } if column.is_valid(row) => write!(buffer, "{}", times[row]),
            Cells::Integers { numbers, column } if column.is_valid(row) => write!(buffer, "{}", numbers[row]),
            Cells::Numbers { numbers, column } if column.is_valid(row) => write!(buffer, "{}", numbers[row]),
            Cells::Truths(truths) if truths.is_valid(row) => write!(buffer, "{}", truths.value(row)),
            Cells::Times { .. } | Cells::Integers { .. } | Cells::Numbers { .. } | Cells::Truths(_) => {
                return None;
            }
        };
        written.ok().map(|()| buffer.as_str())
    }

    /// A cell as microseconds since 1970.
    pub fn time(&self, row: usize, buffer: &mut String) -> Result<Option<i64>, String> {
        match self {
            Cells::Times { times, column } => Ok(column.is_valid(row).then(|| times[row])),
            Cells::Absent
            | Cells::Strings(_)
            | Cells::Integers { .. }
            | Cells::Numbers { .. }
            | Cells::Truths(_) => self.text(row, buffer).map(time).transpose(),
        }
    }
}
