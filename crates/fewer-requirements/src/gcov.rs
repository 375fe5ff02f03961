//! What `gcov --json-format --stdout` prints: one JSON document per line, one per data file.

use serde::Deserialize;

use crate::error::{Problem, RequirementsError};

#[derive(Deserialize)]
struct Document {
    current_working_directory: Option<String>,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    file: String,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    line_number: u64,
    /// Older versions wrote large counts as fractions.
    count: f64,
}

/// The executed lines. Relative paths are taken from the directory that the compiler was in where a file is there;
/// else (`-ffile-prefix-map`) they stay relative.
pub fn parse(bytes: &[u8], is_file: impl Fn(&str) -> bool) -> Result<Vec<(String, u64)>, RequirementsError> {
    let problem = |problem: Problem| problem.in_file("the output of gcov".as_ref());
    let mut lines = Vec::new();
    for (index, text) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let document: Document = serde_json::from_slice(text).map_err(|error| {
            let found = error.to_string();
            problem(Problem::at(index as u64 + 1, "a document of 'gcov --json-format'", found))
        })?;
        for file in document.files {
            let directory = document.current_working_directory.as_deref().unwrap_or(".");
            let absolute = normal(&format!("{directory}/{}", file.file));
            let is_there = !file.file.starts_with('/') && is_file(&absolute);
            let path = if is_there { absolute } else { normal(&file.file) };
            let executed = file.lines.iter().filter(|line| line.count > 0.0 && line.line_number > 0);
            lines.extend(executed.map(|line| (path.clone(), line.line_number)));
        }
    }
    Ok(lines)
}

/// Without `.` and `..`: compilers name files as they came across them.
pub(crate) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executed_lines_have_normal_paths() {
        let text = br#"{"gcc_version": "12.2.0", "current_working_directory": "/p/build", "files": [{"file": "../src/a.cpp", "lines": [{"line_number": 3, "count": 2}, {"line_number": 4, "count": 0}]}]}
"#;
        assert_eq!(parse(text, |_| true).unwrap(), [("/p/src/a.cpp".to_string(), 3)]);
        let mapped = String::from_utf8_lossy(text).replace("../src", "./src");
        assert_eq!(parse(mapped.as_bytes(), |_| false).unwrap(), [("src/a.cpp".to_string(), 3)]);
        let error = parse(b"\n{\"files\": 3}\n", |_| true).unwrap_err().to_string();
        assert!(error.starts_with("the output of gcov:2: expected a document of"), "{error}");
    }
}
