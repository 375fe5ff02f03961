//! A copy of the example project that mutants are built in, one after another. Between mutants the built state is
//! put back from a copy with its times, so that only what a mutant touches is compiled.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::mutants::Mutant;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cpp");

/// Names another state of the project in its place.
const OTHER_PROJECT: &str = "MUTANTS_PROJECT";

/// What of the project is needed to build it.
const PARTS: [&str; 4] = ["CMakeLists.txt", "include", "src", "tests"];

/// Where mutants are made.
const MUTATED: [(&str, &str); 2] = [("include/abacus", ".hpp"), ("src", ".cpp")];

/// A compiler with its flags.
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    pub compiler: &'static str,
    pub flags: &'static str,
}

/// Flags of the example that clang refuses beside bitcode in objects.
const SECTIONS: &str = "-ffunction-sections -fdata-sections";

pub const MACHINE_CODE: Builder = Builder { compiler: "g++", flags: "-O0" };

/// Every clang, at some level of optimisation.
pub const BITCODE: [Builder; 5] = [
    Builder { compiler: "clang++-14", flags: "-O0 -fembed-bitcode" },
    Builder { compiler: "clang++-15", flags: "-O0 -fembed-bitcode" },
    Builder { compiler: "clang++-16", flags: "-O1 -fembed-bitcode" },
    Builder { compiler: "clang++-19", flags: "-O0 -fembed-bitcode" },
    Builder { compiler: "clang++-22", flags: "-O2 -fembed-bitcode" },
];

pub struct Workshop {
    source: PathBuf,
    build: PathBuf,
    /// The build directory as it was before any mutant.
    pristine: PathBuf,
}

/// The files that mutants are made of, sorted: path below the project, and text.
pub fn mutable_files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (directory, ending) in MUTATED {
        let entries = fs::read_dir(project().join(directory)).expect("the example can be read");
        for entry in entries {
            let path = entry.expect("the example can be read").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
            if name.ends_with(ending) {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                files.push((format!("{directory}/{name}"), text));
            }
        }
    }
    files.sort();
    files
}

impl Workshop {
    /// Copies the project into the directory and builds it.
    pub fn open(directory: &Path, builder: Builder) -> Workshop {
        let workshop = Workshop {
            source: directory.join("source"),
            build: directory.join("build"),
            pristine: directory.join("pristine"),
        };
        fs::create_dir_all(&workshop.source).expect("the directory can be made");
        for part in PARTS {
            copy(&project().join(part), &workshop.source.join(part));
        }
        if builder.flags.contains("-fembed-bitcode") {
            workshop.leave_out(SECTIONS);
        }
        let mut configure = Command::new("cmake");
        configure.args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=", "-DCMAKE_CXX_COMPILER_LAUNCHER="]);
        configure.arg(format!("-DCMAKE_CXX_FLAGS={}", builder.flags));
        configure.arg(format!("-DCMAKE_CXX_COMPILER={}", builder.compiler));
        succeed(configure.arg("-S").arg(&workshop.source).arg("-B").arg(&workshop.build));
        let built = workshop.ninja();
        assert!(built.status.success(), "the example does not build: {}", text_of(&built.stdout));
        copy(&workshop.build, &workshop.pristine);
        workshop
    }

    pub fn build_directory(&self) -> &Path {
        &self.build
    }

    /// Builds the mutant, does the work with it and puts everything back. `None` if it does not compile.
    pub fn with_mutant<T>(&self, mutant: &Mutant, work: impl FnOnce() -> T) -> Option<T> {
        let path = self.source.join(&mutant.file);
        let original = fs::read_to_string(&path).expect("the source can be read");
        let written = fs::metadata(&path).and_then(|data| data.modified()).expect("files have times");
        fs::write(&path, mutant.apply(&original)).expect("the source can be written");
        let done = self.ninja().status.success().then(work);
        fs::write(&path, original).expect("the source can be written");
        let file = File::options().write(true).open(&path).expect("the source can be opened");
        file.set_modified(written).expect("times can be set");
        fs::remove_dir_all(&self.build).expect("the build directory can be removed");
        copy(&self.pristine, &self.build);
        done
    }

    fn leave_out(&self, flags: &str) {
        let path = self.source.join("CMakeLists.txt");
        let text = fs::read_to_string(&path).expect("the example is configured by CMake");
        assert!(text.contains(flags), "the example has other flags than {flags}");
        fs::write(&path, text.replace(flags, "")).expect("the copy can be written");
    }

    fn ninja(&self) -> Output {
        output(Command::new("ninja").args(["-j", "2", "-C"]).arg(&self.build))
    }
}

fn project() -> PathBuf {
    std::env::var_os(OTHER_PROJECT).map_or_else(|| PROJECT.into(), PathBuf::from)
}

/// Copies a file or a directory with its times.
fn copy(from: &Path, to: &Path) {
    succeed(Command::new("cp").arg("-a").arg(from).arg(to));
}

fn succeed(command: &mut Command) {
    let output = output(command);
    assert!(output.status.success(), "{command:?}: {}", text_of(&output.stderr));
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?} is needed for this test: {error}"))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
