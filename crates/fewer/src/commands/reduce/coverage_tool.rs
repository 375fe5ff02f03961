//! Coverage of single test processes: what to set for a process, and what it covered, by clang's and GCC's own tools.
//! Which tests run and what is kept is told elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use fewer_objects::file_bytes::read_file;
use fewer_requirements::{covered_lines, parse_gcov};
use fewer_runners::TestProgram;

use super::options::CoverageName;

/// So many files are given to one gcov.
const FILES_AT_ONCE: usize = 200;

/// How programs were instrumented, with the tools that understand it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CoverageTool {
    Clang { profdata: String, cov: String },
    Gcov { gcov: String },
}

impl CoverageTool {
    /// What fits the programs; the tools must be there.
    pub fn find(wanted: CoverageName, programs: &[&TestProgram]) -> anyhow::Result<CoverageTool> {
        let mut version = None;
        let (mut has_clang, mut has_gcov) = (false, false);
        for program in programs {
            let path = &program.executable;
            let bytes = read_file(path).with_context(|| format!("cannot read {}", path.display()))?;
            has_clang |= holds(&bytes, b"__llvm_covmap");
            has_gcov |= holds(&bytes, b".gcda\0");
            version =
                version.or_else(|| major_after(&bytes, b"clang version ").or(major_after(&bytes, b"GCC: (")));
        }
        match (wanted, has_clang, has_gcov) {
            (CoverageName::Auto | CoverageName::Clang, true, _) => Ok(CoverageTool::Clang {
                profdata: tool("llvm-profdata", version)?,
                cov: tool("llvm-cov", version)?,
            }),
            (CoverageName::Auto | CoverageName::Gcov, _, true) => {
                Ok(CoverageTool::Gcov { gcov: tool("gcov", version)? })
            }
            (CoverageName::Auto, false, false) => bail!(
                "the test programs are not built with coverage: build them in a directory of their own with clang's \
                 -fprofile-instr-generate -fcoverage-mapping, or with --coverage, and name it with --build-directory"
            ),
            (CoverageName::Clang, false, _) => {
                bail!("the test programs are not built with -fprofile-instr-generate -fcoverage-mapping")
            }
            (CoverageName::Gcov, _, false) => bail!("the test programs are not built with --coverage"),
        }
    }

    /// For messages and for what is remembered.
    pub fn word(&self) -> &'static str {
        match self {
            CoverageTool::Clang { .. } => "clang",
            CoverageTool::Gcov { .. } => "gcov",
        }
    }

    /// What a process needs to write its counts below a directory of its own.
    pub fn environment(&self, directory: &Path) -> Vec<(String, String)> {
        let set = |name: &str, value: String| (name.to_string(), value);
        match self {
            // Processes that a test starts write their own.
            CoverageTool::Clang { .. } => {
                vec![set("LLVM_PROFILE_FILE", directory.join("%p.profraw").display().to_string())]
            }
            CoverageTool::Gcov { .. } => vec![
                set("GCOV_PREFIX", directory.display().to_string()),
                set("GCOV_PREFIX_STRIP", "0".to_string()),
            ],
        }
    }

    /// The lines that a process covered; `None` where it wrote no counts: it was killed.
    pub fn covered(
        &self,
        program: &TestProgram,
        libraries: &[PathBuf],
        directory: &Path,
    ) -> anyhow::Result<Option<Vec<(String, u64)>>> {
        match self {
            CoverageTool::Clang { profdata, cov } => {
                let counts = files_below(directory, "profraw")?;
                if counts.is_empty() {
                    return Ok(None);
                }
                let merged = directory.join("merged.profdata");
                output(Command::new(profdata).args(["merge", "-sparse", "-o"]).arg(&merged).args(&counts))?;
                let mut export = Command::new(cov);
                export.args(["export", "-format=lcov", "-skip-functions"]);
                export.arg(format!("-instr-profile={}", merged.display())).arg(&program.executable);
                for library in libraries {
                    export.arg("-object").arg(library);
                }
                Ok(Some(covered_lines(&output(&mut export)?)?))
            }
            CoverageTool::Gcov { gcov } => {
                let counts = files_below(directory, "gcda")?;
                if counts.is_empty() {
                    return Ok(None);
                }
                let mut lines = Vec::new();
                for files in counts.chunks(FILES_AT_ONCE) {
                    files.iter().try_for_each(|file| place_notes(directory, file))?;
                    let mut command = Command::new(gcov);
                    command.args(["--json-format", "--stdout"]).args(files).current_dir(directory);
                    lines.extend(parse_gcov(&output(&mut command)?, |path| Path::new(path).is_file())?);
                }
                Ok(Some(lines))
            }
        }
    }
}

/// Whether a library was built with clang's coverage.
pub fn has_coverage_map(path: &Path) -> bool {
    read_file(path).is_ok_and(|bytes| holds(&bytes, b"__llvm_covmap"))
}

/// gcov looks for what the compiler noted beside the counts.
fn place_notes(directory: &Path, counts: &Path) -> anyhow::Result<()> {
    let notes = counts.with_extension("gcno");
    let Ok(below) = notes.strip_prefix(directory) else { return Ok(()) };
    let original = Path::new("/").join(below);
    if !original.exists() {
        bail!(
            "{} is missing: it is written by the compiler beside the object, and gcov needs it. Build again",
            original.display()
        );
    }
    symlink(&original, &notes).with_context(|| format!("cannot link {}", notes.display()))
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(bytes, text).is_some()
}

/// The major version of the compiler, which its tools must share. Example: `14` of `clang version 14.0.6`, `12` of
/// `GCC: (Debian 12.2.0-14) 12.2.0`.
fn major_after(bytes: &[u8], text: &[u8]) -> Option<u32> {
    let rest = &bytes[memchr::memmem::find(bytes, text)? + text.len()..];
    let rest = &rest[..rest.len().min(80)];
    let line = rest.split(|&byte| byte == 0).next().unwrap_or(rest);
    let line = String::from_utf8_lossy(line);
    let version = if text.starts_with(b"GCC") { line.rsplit(' ').next()? } else { line.split(' ').next()? };
    version.split('.').next()?.parse().ok()
}

/// The tool of that version, else the one without a version in its name.
fn tool(name: &str, version: Option<u32>) -> anyhow::Result<String> {
    let versioned = version.map(|version| format!("{name}-{version}"));
    let candidates: Vec<String> = versioned.into_iter().chain([name.to_string()]).collect();
    let is_there = |name: &&String| {
        let mut command = Command::new(name);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Some exit with an error when asked for nothing but their version.
        command.status().is_ok()
    };
    match candidates.iter().find(is_there) {
        Some(found) => Ok(found.clone()),
        None => bail!(
            "{} is needed and not installed (Debian: llvm for llvm-cov, gcc for gcov)",
            candidates.join(" or ")
        ),
    }
}

fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {name}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{name} failed ({}): {}", output.status, message.trim().lines().last().unwrap_or_default());
    }
    Ok(output.stdout)
}

fn files_below(directory: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        let entries =
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_version_is_read_from_its_comment() {
        assert_eq!(major_after(b"\0Debian clang version 14.0.6\0", b"clang version "), Some(14));
        assert_eq!(major_after(b"xGCC: (Debian 12.2.0-14+deb12u1) 12.2.0\0y", b"GCC: ("), Some(12));
        assert_eq!(major_after(b"nothing", b"GCC: ("), None);
    }
}
