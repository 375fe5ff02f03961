//! Rows of cells for spreadsheets and scripts.

/// Lines of cells as RFC 4180 has them, with `\n`.
pub fn csv<'n, R: IntoIterator<Item = String>>(
    names: impl Iterator<Item = &'n str>,
    rows: impl IntoIterator<Item = R>,
) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let mut line = cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(",");
        line.push('\n');
        line
    };
    let mut text = line(&mut names.map(str::to_string));
    rows.into_iter().for_each(|row| text.push_str(&line(&mut row.into_iter())));
    text
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_or_quotes_are_quoted() {
        let text = csv(["a", "b"].into_iter(), [["x,y".to_string(), "say \"hi\"".to_string()]]);
        assert_eq!(text, "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n");
    }
}
