//! A compiler with its flags, and builds by it: what they cost in CPU time and on disk. Headers that most files
//! include are compiled beforehand, so that what a flag costs shows rather than the reading of headers.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::measure;

/// Example: g++ with `-O0 -ffunction-sections -fdata-sections`.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    /// How tables call it. Example: `g++ -O0, sections`.
    pub name: &'static str,
    pub compiler: &'static str,
    pub archiver: &'static str,
    pub flags: &'static str,
    /// Besides the objects.
    pub link_flags: &'static str,
}

/// A file to compile.
pub struct Unit {
    /// From the build directory. Example: `../source/lexer.cpp`.
    pub source: String,
    /// Below the build directory. Example: `lexer.o`.
    pub object: String,
    /// Which of the headers compiled beforehand it starts with. Example: `gtest`.
    pub prelude: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub cpu: Duration,
    /// Of objects, archives and programs.
    pub bytes: u64,
}

/// A build directory.
pub struct Build {
    pub builder: Builder,
    pub directory: PathBuf,
}

impl Build {
    /// Begins in an empty directory, with the headers compiled: names without endings, and texts.
    pub fn begin(
        builder: Builder,
        directory: &Path,
        includes: &str,
        preludes: &[(&str, &str)],
    ) -> Result<Build> {
        let build = Build { builder, directory: directory.to_path_buf() };
        let headers = directory.join("headers");
        fs::create_dir_all(&headers).with_context(|| format!("cannot create {}", headers.display()))?;
        for (name, text) in preludes {
            let header = headers.join(name).with_extension("h");
            fs::write(&header, text).with_context(|| format!("cannot write {}", header.display()))?;
            let mut command = Command::new(builder.compiler);
            command.current_dir(directory).arg("-std=c++17").args(builder.flags.split_whitespace());
            command.args(includes.split_whitespace());
            command.args(["-x", "c++-header", &format!("headers/{name}.h")]);
            measure::child(command.args(["-o", &format!("headers/{name}.h.gch")]))?;
        }
        Ok(build)
    }

    /// Says what the build consists of: files to compile with include directories, and more in ninja's words, where
    /// the rules `archive` and `link` can be used.
    pub fn describe(&self, includes: &str, units: &[Unit], more: &str) -> Result<()> {
        let Builder { compiler, archiver, flags, link_flags, name: _ } = self.builder;
        let mut text = format!(
            "rule compile\n  command = {compiler} -std=c++17 -w {flags} {includes} -include headers/$prelude.h -MMD -MF $out.d -c $in -o $out\n  \
             depfile = $out.d\n  deps = gcc\n\
             rule archive\n  command = rm -f $out && {archiver} rcs $out $in\n\
             rule link\n  command = {compiler} {link_flags} $in -lgtest_main -lgtest -lpthread -o $out\n"
        );
        for Unit { source, object, prelude } in units {
            let _ = writeln!(text, "build {object}: compile {source}\n  prelude = {prelude}");
        }
        text.push_str(more);
        fs::write(self.directory.join("build.ninja"), text).context("cannot write build.ninja")
    }

    /// Builds what is out of date.
    pub fn build(&self) -> Result<Duration> {
        let mut ninja = Command::new("ninja");
        measure::child(ninja.arg("--quiet").arg("-C").arg(&self.directory)).map(|usage| usage.cpu)
    }

    /// Builds everything and counts it.
    pub fn cost(&self) -> Result<Cost> {
        measure::child(Command::new("ninja").args(["--quiet", "-t", "clean"]).current_dir(&self.directory))?;
        let cpu = self.build()?;
        let mut bytes = 0;
        for entry in fs::read_dir(&self.directory).context("cannot read the build directory")? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_file() && !name.starts_with(".ninja") && name != "build.ninja" {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(Cost { cpu, bytes })
    }
}
