//! Which column of a foreign table means what, and which words and numbers in it.

use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::error::LabError;
use crate::label::Outcome;
use crate::records::{PreSubmit, schema};

/// A field of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Field {
    Commit,
    Time,
    Author,
    Target,
    Result,
    Duration,
    PreSubmit,
    Fingerprint,
}

impl Field {
    pub const ALL: [Field; 8] = [
        Field::Commit,
        Field::Time,
        Field::Author,
        Field::Target,
        Field::Result,
        Field::Duration,
        Field::PreSubmit,
        Field::Fingerprint,
    ];

    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Field::Commit => "commit",
            Field::Time => "time",
            Field::Author => "author",
            Field::Target => "target",
            Field::Result => "result",
            Field::Duration => "duration",
            Field::PreSubmit => "pre-submit",
            Field::Fingerprint => "fingerprint",
        }
    }

    /// What the column is called unless the user says otherwise.
    fn usual_name(self) -> &'static str {
        match self {
            Field::Commit => schema::COMMIT,
            Field::Time => schema::TIME,
            Field::Author => schema::AUTHOR,
            Field::Target => schema::TARGET,
            Field::Result => schema::RESULT,
            Field::Duration => schema::DURATION,
            Field::PreSubmit => schema::PRE_SUBMIT,
            Field::Fingerprint => schema::FINGERPRINT,
        }
    }

    fn is_required(self, has_git: bool) -> bool {
        match self {
            Field::Commit | Field::Target | Field::Result => true,
            Field::Time => !has_git,
            Field::Author | Field::Duration | Field::PreSubmit | Field::Fingerprint => false,
        }
    }
}

impl FromStr for Field {
    type Err = String;

    fn from_str(word: &str) -> Result<Field, String> {
        Field::ALL.into_iter().find(|field| field.word() == word).ok_or_else(|| {
            format!("'{word}' is no field; those known are {}", Field::ALL.map(Field::word).join(", "))
        })
    }
}

/// Of durations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    #[default]
    Seconds,
    Milliseconds,
}

/// How a foreign table is read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mapping {
    /// Columns that are called otherwise than usual.
    pub columns: Vec<(Field, String)>,
    /// Words for results, besides the usual ones.
    pub words: Vec<(String, Outcome)>,
    pub duration_unit: Unit,
    /// Times of commits come from git where it knows them, so that no column has to have them.
    pub has_git: bool,
}

/// Where each field is in a table; `None` where it is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Places([Option<usize>; Field::ALL.len()]);

impl Places {
    pub fn of(&self, field: Field) -> Option<usize> {
        self.0[field as usize]
    }
}

impl Mapping {
    /// Finds the columns of a table by their names.
    pub fn places(&self, path: &Path, names: &[&str]) -> Result<Places, LabError> {
        let mut places = Places::default();
        for field in Field::ALL {
            let given =
                self.columns.iter().rfind(|(other, _)| *other == field).map(|(_, name)| name.as_str());
            let name = given.unwrap_or(field.usual_name());
            // A column that was named for another field is that one alone.
            let taken_by = self.columns.iter().find(|(_, taken)| given.is_none() && taken == name);
            let place = names.iter().position(|other| *other == name && taken_by.is_none());
            if place.is_none() && (given.is_some() || field.is_required(self.has_git)) {
                let why = match (given, taken_by) {
                    (Some(_), _) => format!("was named for the {}", field.word()),
                    (None, Some((other, _))) => format!(
                        "every row needs, besides the one named for the {} (name another with --column {}=NAME)",
                        other.word(),
                        field.word()
                    ),
                    (None, None) => {
                        format!("every row needs (or name another with --column {}=NAME)", field.word())
                    }
                };
                return Err(LabError::MissingColumn {
                    path: path.to_path_buf(),
                    column: name.to_string(),
                    why,
                    found: names.iter().map(ToString::to_string).collect(),
                });
            }
            places.0[field as usize] = place;
        }
        Ok(places)
    }

    pub fn outcome(&self, word: &str) -> Result<Outcome, String> {
        let word = word.trim();
        if let Some((_, outcome)) = self.words.iter().find(|(known, _)| known == word) {
            return Ok(*outcome);
        }
        let is_one_of = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
        match () {
            () if is_one_of(&["pass", "passed", "ok", "success", "successful"]) => Ok(Outcome::Pass),
            () if is_one_of(&["fail", "failed", "failure", "error", "broken"]) => Ok(Outcome::Fail),
            () if is_one_of(&["not-run", "not run", "skipped", "ignored", "none", "-", ""]) => {
                Ok(Outcome::NotRun)
            }
            () => Err(format!(
                "'{word}' is no result that is known; say what it means, like --word '{word}=fail'"
            )),
        }
    }

    pub fn duration(&self, text: &str) -> Result<Option<f64>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let number: f64 = text.parse().map_err(|_| format!("'{text}' is no duration: a number is needed"))?;
        if !number.is_finite() || number < 0.0 {
            return Err(format!("'{text}' is no duration"));
        }
        Ok(Some(match self.duration_unit {
            Unit::Seconds => number,
            Unit::Milliseconds => number / 1000.0,
        }))
    }

    pub fn pre_submit(&self, word: &str) -> Result<PreSubmit, String> {
        schema::pre_submit(Some(word.trim()).filter(|word| !word.is_empty()))
    }
}

/// In microseconds since 1970: `2020-07-24 04:45:01.571` (UTC), with an offset or a zone, or a number of seconds,
/// milliseconds or microseconds, told apart by their size.
pub fn time(text: &str) -> Result<i64, String> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return number_of_time(number).ok_or_else(|| format!("{text} is no time"));
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_microsecond());
    }
    let civil: Option<DateTime> = text.parse().ok();
    let time = civil.and_then(|civil| civil.to_zoned(TimeZone::UTC).ok());
    time.map(|time| time.timestamp().as_microsecond()).ok_or_else(|| {
        format!("'{text}' is no time; write it like 2024-05-17 08:30:00 or 2024-05-17T08:30:00Z")
    })
}

/// 10^11 seconds are in the year 5138, so many milliseconds in 1973.
fn number_of_time(number: f64) -> Option<i64> {
    let microseconds = match number.abs() {
        size if size < 1e11 => number * 1e6,
        size if size < 1e14 => number * 1e3,
        size if size < 1e17 => number,
        _ => return None,
    };
    Some(microseconds.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_understood_as_people_write_them() {
        let expected = 1_595_565_901_571_000;
        for text in [
            "2020-07-24 04:45:01.571",
            "2020-07-24T04:45:01.571",
            "2020-07-24T04:45:01.571Z",
            "2020-07-24T06:45:01.571+02:00",
            " 1595565901.571 ",
            "1595565901571",
            "1595565901571000",
        ] {
            assert_eq!(time(text), Ok(expected), "{text}");
        }
        for text in ["", "yesterday", "24.7.2020", "1e300"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_column_that_is_named_for_a_field_is_no_other_one() {
        let columns = vec![(Field::Duration, "time".to_string())];
        let names = ["commit", "time", "target", "result"];
        let mut mapping = Mapping { columns, ..Mapping::default() };
        let missing = mapping.places(Path::new("t.csv"), &names).unwrap_err().to_string();
        assert!(
            missing.contains("besides the one named for the duration (name another with --column time=NAME)"),
            "{missing}"
        );
        mapping.has_git = true;
        let places = mapping.places(Path::new("t.csv"), &names).unwrap();
        assert_eq!((places.of(Field::Duration), places.of(Field::Time)), (Some(1), None));
        mapping.columns.push((Field::Time, "time".to_string()));
        assert_eq!(mapping.places(Path::new("t.csv"), &names).unwrap().of(Field::Time), Some(1));
    }

    #[test]
    fn words_of_the_user_come_before_the_usual_ones() {
        let words = vec![("1".to_string(), Outcome::Fail), ("ok".to_string(), Outcome::NotRun)];
        let mapping = Mapping { words, ..Mapping::default() };
        assert_eq!(mapping.outcome("1"), Ok(Outcome::Fail));
        assert_eq!(mapping.outcome("ok"), Ok(Outcome::NotRun));
        assert_eq!(mapping.outcome("Passed"), Ok(Outcome::Pass));
        assert!(mapping.outcome("0").unwrap_err().contains("--word '0=fail'"));
    }
}
