//! Making bytes readable to the parser: encodings other than UTF-8, and the newest syntax that the grammar does
//! not know yet but that older syntax of the same length can stand for. No parsing here.

use std::borrow::Cow;

/// The text of a file: UTF-8, else every byte a character (as in Latin-1), which keeps all ASCII as it is.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// The same text, byte for byte in the same places, with `case null, default` read as `case null` and module
/// imports left out, and what was removed. `None` if there is nothing of the kind.
pub(crate) fn without_newest_syntax(text: &str) -> Option<(String, String)> {
    let mut older = text.as_bytes().to_vec();
    let mut removed = String::new();
    let mut blank = |start: usize, end: usize| {
        removed.push_str(&text[start..end]);
        for byte in &mut older[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    for (start, _) in text.match_indices("null") {
        let after_null = start + "null".len();
        let rest = &text[after_null..];
        let after_comma = rest.trim_start().strip_prefix(',').map(str::trim_start);
        if let Some(after_default) = after_comma.and_then(|rest| rest.strip_prefix("default")) {
            blank(after_null, text.len() - after_default.len());
        }
    }
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("import module ") && trimmed.ends_with(';') && trimmed.is_ascii() {
            blank(line_start, line_start + line.trim_end().len());
        }
        line_start += line.len();
    }
    if removed.is_empty() {
        return None;
    }
    Some((String::from_utf8(older).ok()?, removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_1_is_read_and_ascii_stays_in_place() {
        assert_eq!(readable(b"caf\xe9"), "caf\u{e9}");
        assert_eq!(readable(b"\xef\xbb\xbfclass A {}"), "class A {}");
    }

    #[test]
    fn newest_syntax_is_blanked_in_place() {
        let (older, removed) = without_newest_syntax("switch (x) { case null, default -> 1; }").unwrap();
        assert_eq!(older, "switch (x) { case null          -> 1; }");
        assert_eq!(removed, ", default");
        let (older, _) = without_newest_syntax("import module java.base;\nclass A {}").unwrap();
        assert_eq!(older.trim_start(), "class A {}");
        assert_eq!(without_newest_syntax("x = null;"), None);
    }
}
