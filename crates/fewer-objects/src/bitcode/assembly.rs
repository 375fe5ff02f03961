//! Assembly inside a module: which names its text may lead to, and which it defines. Nothing is assembled: a word
//! that is no instruction, register or number counts as a name.

/// The text of an inline-assembly constant; `None` for other constants.
pub fn of_operands(code: u32, operands: &[u64]) -> Option<Vec<u8>> {
    // The newest form begins with the function's type.
    let operands = match code {
        18 | 23 | 28 => operands,
        30 => operands.get(1..)?,
        _ => return None,
    };
    let length = usize::try_from(*operands.get(1)?).ok()?;
    let text = operands.get(2..)?;
    Some(text.iter().take(length).map(|&byte| byte as u8).collect())
}

/// A label that the text defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub name: Vec<u8>,
    pub is_global: bool,
    pub is_weak: bool,
}

/// Every word of the operands of statements that may be a symbol, sorted.
pub fn names(text: &[u8]) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for statement in statements(text) {
        let (_, statement) = split_labels(statement);
        let words = words(statement);
        // The first word is the instruction or directive.
        names.extend(words.into_iter().skip(1).map(<[u8]>::to_vec));
    }
    names.sort();
    names.dedup();
    names
}

/// The labels that a module's own assembly defines.
pub fn labels(text: &[u8]) -> Vec<Label> {
    let mut found: Vec<Label> = Vec::new();
    let mut globals: Vec<Vec<u8>> = Vec::new();
    let mut weak: Vec<Vec<u8>> = Vec::new();
    for statement in statements(text) {
        let (labels, rest) = split_labels(statement);
        found.extend(labels.into_iter().map(|name| Label {
            name: name.to_vec(),
            is_global: false,
            is_weak: false,
        }));
        let words = words(rest);
        let named = || words.iter().skip(1).map(|name| name.to_vec());
        match words.first().copied() {
            Some(b".globl" | b".global") => globals.extend(named()),
            Some(b".weak") => weak.extend(named()),
            Some(b".set" | b".equ") => {
                found.extend(named().take(1).map(|name| Label { name, is_global: false, is_weak: false }))
            }
            Some(_) | None => {}
        }
    }
    for label in &mut found {
        label.is_weak = weak.contains(&label.name);
        label.is_global = label.is_weak || globals.contains(&label.name);
    }
    found
}

fn statements(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let without_comment = |line: &'_ [u8]| line.split(|&byte| byte == b'#').next().unwrap_or(b"").len();
    text.split(|&byte| byte == b'\n')
        .map(move |line| &line[..without_comment(line)])
        .flat_map(|line| line.split(|&byte| byte == b';'))
}

/// The labels before a statement, and the statement.
fn split_labels(statement: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut labels = Vec::new();
    let mut rest = statement.trim_ascii();
    while let Some(end) = rest.iter().position(|&byte| byte == b':') {
        let name = &rest[..end];
        if name.is_empty() || !name.iter().all(|&byte| is_name_byte(byte)) {
            break;
        }
        labels.push(name);
        rest = rest[end + 1..].trim_ascii();
    }
    (labels, rest)
}

/// Words that may be names: no registers (`%rax`), operands (`$0`), numbers or quoted texts.
fn words(statement: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < statement.len() {
        let byte = statement[at];
        if byte == b'"' {
            let length = statement[at + 1..].iter().position(|&byte| byte == b'"');
            at += length.map_or(statement.len(), |length| length + 2);
        } else if is_name_byte(byte) {
            let length = statement[at..].iter().take_while(|&&byte| is_name_byte(byte)).count();
            let is_operand = at > 0 && statement[at - 1] == b'%';
            if !byte.is_ascii_digit() && !is_operand {
                // `$` introduces an operand of the statement, and `$$` an immediate, which may be an address.
                let word = &statement[at..at + length];
                let name = word.strip_prefix(b"$$").unwrap_or(word);
                if !name.is_empty() && !name[0].is_ascii_digit() && name[0] != b'$' {
                    words.push(name);
                }
            }
            at += length;
        } else {
            at += 1;
        }
    }
    words
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[Vec<u8>]) -> Vec<String> {
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[test]
    fn operands_of_statements_are_names_and_the_rest_is_not() {
        let text = b"call helper\n\tmovq table(%rip), %rax; lea $$other, $0 # comment name\n1: jmp 1b";
        assert_eq!(texts(&names(text)), ["helper", "other", "table"]);
        assert_eq!(texts(&names(b"")), Vec::<String>::new());
        assert_eq!(texts(&names(b"pause\n\trep; nop")), Vec::<String>::new());
    }

    #[test]
    fn labels_of_a_module_have_the_linkage_that_its_directives_say() {
        let text = b".globl start\n.weak maybe\nstart: call f\nmaybe:\nlocal: ret\n";
        let labels = labels(text);
        let told: Vec<(String, bool, bool)> = labels
            .iter()
            .map(|label| (String::from_utf8_lossy(&label.name).into_owned(), label.is_global, label.is_weak))
            .collect();
        let expected = [("start", true, false), ("maybe", true, true), ("local", false, false)];
        assert_eq!(told, expected.map(|(name, global, weak)| (name.to_string(), global, weak)));
    }
}
