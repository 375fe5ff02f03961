//! A matrix as CSV: either one pair per line (`test,requirement`) or one test per line with a column per requirement
//! (`test,R1,R2,...` and 0 or 1 below).

use fewer_core::reduction::RequirementKind;

use crate::error::{Problem, quoted};
use crate::findings::Findings;

pub(crate) fn parse(bytes: &[u8], kind: RequirementKind) -> Result<Findings, Problem> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let header = reader.byte_headers().map_err(|error| problem(&error))?.clone();
    let names: Vec<String> = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if names.first().map(String::as_str) != Some("test") || names.len() < 2 {
        return Err(Problem::at(
            1,
            "the columns 'test,requirement', or 'test' and a column per requirement",
            quoted(&names.join(",")),
        ));
    }
    let is_long = names.len() == 2 && names[1] == "requirement";
    let mut findings = Findings::new(kind);
    let numbers: Vec<u32> =
        if is_long { Vec::new() } else { names[1..].iter().map(|name| findings.requirement(name)).collect() };
    for record in reader.byte_records() {
        let record = record.map_err(|error| problem(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |index: usize| String::from_utf8_lossy(record.get(index).unwrap_or_default());
        let test = text(0);
        if test.is_empty() {
            return Err(Problem::at(line, "the name of a test", "nothing"));
        }
        findings.test(&test);
        if is_long {
            let number = findings.requirement(&text(1));
            findings.satisfied(&test, number);
            continue;
        }
        for (index, &number) in numbers.iter().enumerate() {
            match text(index + 1).as_ref() {
                "1" | "true" | "yes" | "x" => findings.satisfied(&test, number),
                "0" | "false" | "no" | "" => {}
                other => return Err(Problem::at(line, "0 or 1", quoted(other))),
            }
        }
    }
    if findings.is_empty() {
        return Err(Problem::whole("a line per test below the header", "none"));
    }
    Ok(findings)
}

fn problem(error: &csv::Error) -> Problem {
    let line = error.position().map(csv::Position::line);
    let found = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells where the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    Problem::Expected { line, expected: "lines of CSV that are all as long as the header".into(), found }
}
