//! Rows under a header, as aligned columns for people or as CSV for programs.

use fewer_report::{Table, csv, document};
use serde::Serialize;

use crate::cli::TableFormat;

/// The first column is text, the others are aligned to the right.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    rows: Vec<Vec<String>>,
}

impl Sheet {
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Sheet {
        Sheet { rows: vec![header.into_iter().map(Into::into).collect()] }
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Sheet {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut table = Table::new(&(0..columns).map(|column| column > 0).collect::<Vec<bool>>());
        for row in &self.rows {
            table.row(row.iter().map(String::as_str));
        }
        table.text()
    }

    pub fn csv(&self) -> String {
        let Some((header, rows)) = self.rows.split_first() else { return String::new() };
        csv(header.iter().map(String::as_str), rows.iter().cloned())
    }
}

/// The result in the format that was asked for; `sentence` is for people, below the table.
pub fn shown(
    format: TableFormat,
    sheet: &Sheet,
    sentence: &str,
    name: &str,
    view: &impl Serialize,
) -> String {
    match format {
        TableFormat::Table => format!("{}{sentence}", sheet.text()),
        TableFormat::Json => document(name, view),
        TableFormat::Csv => sheet.csv(),
    }
}

/// A share for people. Example: `12.50 %`.
pub fn percent(value: f64) -> String {
    format!("{value:.2} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let mut sheet = Sheet::new(["test", "size"]);
        sheet.row(["a<b,c>\"d\"", "7"]);
        assert_eq!(sheet.csv(), "test,size\n\"a<b,c>\"\"d\"\"\",7\n");
        assert_eq!(sheet.text(), "test       size\na<b,c>\"d\"     7\n");
    }
}
