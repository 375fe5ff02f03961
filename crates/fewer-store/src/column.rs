//! How digests, times, verdicts and ids stand in columns. What the columns mean is said in the schema.

use fewer_core::{Digest, Verdict};
use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::seal::Mac;

/// A digest as 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(crate) Digest);

impl ToSql for Key {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.to_bytes().to_vec()))
    }
}

impl FromSql for Key {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Key> {
        let bytes = value.as_blob()?;
        let bytes: [u8; 16] = bytes
            .try_into()
            .map_err(|_| FromSqlError::InvalidBlobSize { expected_size: 16, blob_size: bytes.len() })?;
        Ok(Key(Digest::from_bytes(bytes)))
    }
}

/// A keyed hash as its bytes. One of another length is nobody's.
pub(crate) struct MacBytes(pub(crate) Mac);

impl ToSql for MacBytes {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(&self.0[..]))
    }
}

impl FromSql for MacBytes {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<MacBytes> {
        Ok(MacBytes(value.as_blob()?.try_into().unwrap_or_default()))
    }
}

/// A moment as milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Moment(pub(crate) Timestamp);

impl Moment {
    pub(crate) fn now() -> Moment {
        Moment(Timestamp::now())
    }

    /// As it stands in a column.
    pub(crate) fn milliseconds(self) -> i64 {
        self.0.as_millisecond()
    }

    /// To the second. Example: `2026-11-15T20:15:04Z`.
    pub(crate) fn text(self) -> String {
        Timestamp::from_second(self.0.as_second()).unwrap_or(self.0).to_string()
    }
}

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_millisecond()))
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Moment> {
        let milliseconds = value.as_i64()?;
        Timestamp::from_millisecond(milliseconds)
            .map(Moment)
            .map_err(|_| FromSqlError::OutOfRange(milliseconds))
    }
}

/// A verdict as its word.
pub(crate) struct VerdictWord(pub(crate) Verdict);

impl ToSql for VerdictWord {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.word()))
    }
}

impl FromSql for VerdictWord {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<VerdictWord> {
        let word = value.as_str()?;
        Verdict::from_word(word)
            .map(VerdictWord)
            .ok_or_else(|| FromSqlError::Other(format!("'{word}' is not a verdict").into()))
    }
}

/// A count or size, which is never negative.
pub(crate) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}
