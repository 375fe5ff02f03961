//! Data files of coverage.py (`.coverage`, SQLite) with a context per test: `pytest --cov-context=test`, or
//! `dynamic_context = test_function`. Lines, or the lines that branches lead from and to.

use std::path::Path;

use fewer_core::reduction::RequirementKind;
use rusqlite::{Connection, OpenFlags};

use crate::error::Problem;
use crate::findings::Findings;

/// The greatest line number that is believed: data files have none, damaged ones do.
const GREATEST_LINE: u64 = 10_000_000;

/// A data file starts like this.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

pub(crate) fn read(path: &Path) -> Result<Findings, Problem> {
    let unreadable = |error: &rusqlite::Error| {
        Problem::whole("a data file of coverage.py", format!("one that SQLite cannot read ({error})"))
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| unreadable(&error))?;
    let _ = connection.pragma_update(None, "trusted_schema", false);
    let _ = connection.pragma_update(None, "cell_size_check", true);
    schema(&connection)?;
    let mut findings = Findings::new(RequirementKind::Statements);
    contexts(&connection, &mut findings).map_err(|error| unreadable(&error))?;
    lines(&connection, &mut findings).map_err(|error| unreadable(&error))?;
    arcs(&connection, &mut findings).map_err(|error| unreadable(&error))?;
    if findings.is_empty() {
        return Err(Problem::whole(
            "contexts that name tests (pytest --cov-context=test, or dynamic_context = test_function)",
            "a data file without any",
        ));
    }
    Ok(findings)
}

fn schema(connection: &Connection) -> Result<(), Problem> {
    let version: Result<i64, _> =
        connection.query_row("SELECT version FROM coverage_schema", [], |row| row.get(0));
    match version {
        // 6 brought line_bits and contexts; 7 is the newest there is.
        Ok(6 | 7) => Ok(()),
        Ok(other) => Err(Problem::whole("schema 6 or 7 of coverage.py", format!("schema {other}"))),
        Err(error) => {
            Err(Problem::whole("a data file of coverage.py", format!("no table coverage_schema ({error})")))
        }
    }
}

fn contexts(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT context FROM context")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(test) = test_of(&row.get::<_, String>(0)?) {
            findings.test(test);
        }
    }
    Ok(())
}

fn lines(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT file.path, context.context, line_bits.numbits FROM line_bits \
         JOIN file ON file.id = line_bits.file_id JOIN context ON context.id = line_bits.context_id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (path, context, bits): (String, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let Some(test) = test_of(&context) else { continue };
        for line in numbers(&bits) {
            let statement = findings.statement(&path, line);
            findings.satisfied(test, statement);
        }
    }
    Ok(())
}

fn arcs(connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT file.path, context.context, arc.fromno, arc.tono FROM arc \
         JOIN file ON file.id = arc.file_id JOIN context ON context.id = arc.context_id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (path, context): (String, String) = (row.get(0)?, row.get(1)?);
        let Some(test) = test_of(&context) else { continue };
        for end in [row.get::<_, i64>(2)?, row.get::<_, i64>(3)?] {
            // Negative ends are entries and exits.
            if let Some(line) = u64::try_from(end).ok().filter(|line| (1..=GREATEST_LINE).contains(line)) {
                let statement = findings.statement(&path, line);
                findings.satisfied(test, statement);
            }
        }
    }
    Ok(())
}

/// The test of a context, without pytest-cov's phase; `None` outside of tests.
fn test_of(context: &str) -> Option<&str> {
    let test = ["|setup", "|run", "|teardown"]
        .iter()
        .find_map(|phase| context.strip_suffix(phase))
        .unwrap_or(context);
    (!test.is_empty()).then_some(test)
}

/// The lines of coverage.py's bit sets: bit `n` of the whole is line `n`.
fn numbers(bits: &[u8]) -> impl Iterator<Item = u64> {
    let of_byte = |(index, &byte): (usize, &u8)| {
        (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| index as u64 * 8 + bit)
    };
    bits.iter().enumerate().flat_map(of_byte).filter(|line| (1..=GREATEST_LINE).contains(line))
}
