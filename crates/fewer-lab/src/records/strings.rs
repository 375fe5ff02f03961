//! Columns as other programs write them: text with or without a dictionary, times in any unit, integers of any
//! width, behind one interface each. No row allocates.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt32Type,
};
use arrow_array::{Array, ArrayRef, Int32Array, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{DataType, TimeUnit};

/// A column of text.
pub enum Strings<'a> {
    Dictionary { keys: &'a Int32Array, values: &'a StringArray },
    Plain(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> Strings<'a> {
    /// `None` for a column that is no text.
    pub fn of(column: &'a ArrayRef) -> Option<Strings<'a>> {
        match column.data_type() {
            DataType::Dictionary(..) => {
                let column = column.as_dictionary_opt::<Int32Type>()?;
                let values = column.values().as_string_opt::<i32>()?;
                Some(Strings::Dictionary { keys: column.keys(), values })
            }
            DataType::Utf8 => column.as_string_opt().map(Strings::Plain),
            DataType::LargeUtf8 => column.as_string_opt().map(Strings::Large),
            DataType::Utf8View => column.as_string_view_opt().map(Strings::View),
            _ => None,
        }
    }

    pub fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Strings::Dictionary { keys, values } => {
                keys.is_valid(row).then(|| values.value(keys.value(row) as usize))
            }
            Strings::Plain(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Strings::Dictionary { keys, .. } => keys.len(),
            Strings::Plain(array) => array.len(),
            Strings::Large(array) => array.len(),
            Strings::View(array) => array.len(),
        }
    }
}

/// A code per text, found once per entry of a dictionary and once per run of equal texts.
pub struct Codes<T> {
    dictionary: Vec<T>,
    /// Of the dictionary that the codes are of. The array is kept so that its address stays its own.
    known: Option<StringArray>,
}

impl<T: Copy> Codes<T> {
    pub fn new() -> Codes<T> {
        Codes { dictionary: Vec::new(), known: None }
    }

    /// The codes of a batch's rows into `codes`; the row at which `code` fails, with its failure.
    pub fn encode<E>(
        &mut self,
        strings: &Strings<'_>,
        codes: &mut Vec<T>,
        mut code: impl FnMut(Option<&str>) -> Result<T, E>,
    ) -> Result<(), (usize, E)> {
        codes.clear();
        if let Strings::Dictionary { keys, values } = strings {
            // A dictionary may hold words that no row has; they are judged only if a row is reached.
            if self.refresh(values, &mut code) {
                let missing = match keys.null_count() {
                    0 => None,
                    _ => code(None).ok(),
                };
                match (keys.null_count(), missing) {
                    (0, _) => {
                        codes.extend(keys.values().iter().map(|&key| self.dictionary[key as usize]));
                        return Ok(());
                    }
                    (_, Some(missing)) => {
                        let known =
                            |key: Option<i32>| key.map_or(missing, |key| self.dictionary[key as usize]);
                        codes.extend(keys.iter().map(known));
                        return Ok(());
                    }
                    (_, None) => {}
                }
            }
        }
        let mut last: Option<(Option<&str>, T)> = None;
        for row in 0..strings.len() {
            let text = strings.get(row);
            let found = match last {
                Some((same, found)) if same == text => found,
                Some(_) | None => code(text).map_err(|problem| (row, problem))?,
            };
            last = Some((text, found));
            codes.push(found);
        }
        Ok(())
    }

    /// Whether every entry of the dictionary has a code.
    fn refresh<E>(
        &mut self,
        values: &StringArray,
        code: &mut impl FnMut(Option<&str>) -> Result<T, E>,
    ) -> bool {
        let is_known = self.known.as_ref().is_some_and(|known| {
            known.len() == values.len()
                && known.value_data().as_ptr() == values.value_data().as_ptr()
                && known.value_offsets().as_ptr() == values.value_offsets().as_ptr()
        });
        if !is_known {
            self.known = None;
            self.dictionary.clear();
            for entry in values {
                match code(entry) {
                    Ok(found) => self.dictionary.push(found),
                    Err(_) => return false,
                }
            }
            self.known = Some(values.clone());
        }
        true
    }
}

/// A column of whole numbers, of any width, into `numbers`; `false` for another type.
pub fn integers(column: &ArrayRef, numbers: &mut Vec<i64>) -> bool {
    numbers.clear();
    match column.data_type() {
        DataType::Int32 => {
            numbers.extend(column.as_primitive::<Int32Type>().values().iter().map(|&one| i64::from(one)));
        }
        DataType::UInt32 => {
            numbers.extend(column.as_primitive::<UInt32Type>().values().iter().map(|&one| i64::from(one)));
        }
        DataType::Int64 => numbers.extend_from_slice(column.as_primitive::<Int64Type>().values()),
        _ => return false,
    }
    true
}

/// A column of times in microseconds; `false` for another type.
pub fn microseconds(column: &ArrayRef, times: &mut Vec<i64>) -> bool {
    times.clear();
    let DataType::Timestamp(unit, _) = column.data_type() else { return false };
    match unit {
        TimeUnit::Second => {
            let seconds = column.as_primitive::<TimestampSecondType>().values().iter();
            times.extend(seconds.map(|time| time.saturating_mul(1_000_000)));
        }
        TimeUnit::Millisecond => {
            let milliseconds = column.as_primitive::<TimestampMillisecondType>().values().iter();
            times.extend(milliseconds.map(|time| time.saturating_mul(1000)));
        }
        TimeUnit::Microsecond => {
            times.extend_from_slice(column.as_primitive::<TimestampMicrosecondType>().values());
        }
        TimeUnit::Nanosecond => {
            let nanoseconds = column.as_primitive::<TimestampNanosecondType>().values().iter();
            times.extend(nanoseconds.map(|time| time.div_euclid(1000)));
        }
    }
    true
}
