//! Text of others for a terminal: what a terminal would obey (control characters, escape sequences, marks that turn the
//! direction of writing) is shown as JSON writes it, `\u001b`, so that nothing in names and outputs moves the cursor, sets
//! titles, answers for the user or hides what is there.

use std::borrow::Cow;

/// Whether a terminal does anything else than showing it.
pub fn is_obeyed(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// As it may be sent to a terminal: lines, tabs and colours stay.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| is_obeyed(character) && !matches!(character, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = colour(rest).or_else(|| rest.starts_with("\r\n").then_some(2)).or_else(|| {
            (matches!(character, '\n' | '\t') || !is_obeyed(character)).then(|| character.len_utf8())
        });
        match length {
            Some(2) if character == '\r' => shown.push('\n'),
            Some(length) => shown.push_str(&rest[..length]),
            None => shown.push_str(&escaped(character)),
        }
        rest = &rest[length.unwrap_or_else(|| character.len_utf8())..];
    }
    Cow::Owned(shown)
}

/// The same in one line without colours: a name.
pub fn shown_name(name: &str) -> Cow<'_, str> {
    if !name.contains(is_obeyed) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(
        name.chars()
            .map(|character| if is_obeyed(character) { escaped(character) } else { character.to_string() })
            .collect(),
    )
}

fn escaped(character: char) -> String {
    format!("\\u{:04x}", u32::from(character))
}

/// The length of `ESC [ ... m` at the beginning of a text.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|character: char| !matches!(character, '0'..='9' | ';' | ':'))?;
    parameters[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_json_writes_it() {
        for (text, expected) in [
            ("plain: Ä, 字, \u{1f600}, a\tb\n", "plain: Ä, 字, \u{1f600}, a\tb\n"),
            ("\x1b[31mred\x1b[0m \x1b[38;5;1m\x1b[4:3m", "\x1b[31mred\x1b[0m \x1b[38;5;1m\x1b[4:3m"),
            ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
            ("\x1b[2J\x1b[H", "\\u001b[2J\\u001b[H"),
            ("\x1b[31\x1b[32m", "\\u001b[31\x1b[32m"),
            ("\x1b[", "\\u001b["),
            ("\x1bPq\x1b\\\x1bc", "\\u001bPq\\u001b\\\\u001bc"),
            ("\u{9b}2J\u{9d}0;x\u{9c}", "\\u009b2J\\u009d0;x\\u009c"),
            ("a\rb\r\nc\x08\x7f\0", "a\\u000db\nc\\u0008\\u007f\\u0000"),
            ("\u{202e}cba\u{2066}", "\\u202ecba\\u2066"),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(shown_name("S.\x1b[31ma\nb\t"), "S.\\u001b[31ma\\u000ab\\u0009");
    }
}
