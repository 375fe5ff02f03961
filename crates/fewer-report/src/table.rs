//! Columns of text, aligned. Colours inside cells do not disturb the widths.

/// Rows of cells; numbers are aligned to the right when their column says so.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Table {
    /// A table whose columns are aligned to the right where `right` says so.
    pub fn new(right: &[bool]) -> Table {
        Table { rows: Vec::new(), right: right.to_vec() }
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Table {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One line per row, two blanks between columns, no blanks at line ends.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max())
            .map(Option::unwrap_or_default)
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[column] - width(cell));
                let is_right = self.right.get(column).copied().unwrap_or(false);
                if column > 0 {
                    line.push_str("  ");
                }
                line.push_str(&if is_right { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") });
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// How many characters are seen: ANSI sequences are not.
fn width(cell: &str) -> usize {
    let mut count = 0;
    let mut in_sequence = false;
    for character in cell.chars() {
        match (in_sequence, character) {
            (false, '\x1b') => in_sequence = true,
            (false, _) => count += 1,
            (true, 'm') => in_sequence = false,
            (true, _) => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Tone, paint};

    #[test]
    fn columns_are_aligned_whatever_their_colours() {
        let mut table = Table::new(&[false, true]);
        table.row(["tests", "7"]).row([paint(Tone::Good, "ok"), "1234".to_string()]);
        assert_eq!(table.text(), format!("tests     7\n{}     1234\n", paint(Tone::Good, "ok")));
    }
}
