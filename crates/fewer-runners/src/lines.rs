//! Complete lines out of what a process prints piece by piece. What the lines mean is told elsewhere.

/// Holds the beginning of a line until its end comes.
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// Lines that are longer say nothing, and are dropped.
    longest: usize,
}

impl Lines {
    pub(crate) fn new(longest: usize) -> Lines {
        Lines { begun: Vec::new(), longest }
    }

    /// The lines that end within these bytes, without blanks at their ends.
    pub(crate) fn ended(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.begun);
                lines.push(String::from_utf8_lossy(&line).trim_end().to_string());
            } else if self.begun.len() > self.longest {
                self.begun.clear();
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let mut lines = Lines::new(16);
        assert_eq!(lines.ended(b"one\ntw"), ["one"]);
        assert_eq!(lines.ended(b"o \r\n\n"), ["two", ""]);
        assert!(lines.ended(b"far too long to say anything").is_empty());
        assert_eq!(lines.ended(b"rest\nthree\n"), ["rest", "three"]);
    }
}
