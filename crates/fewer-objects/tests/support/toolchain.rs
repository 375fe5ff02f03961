//! The compilers and flags of the contract, each with GoogleTest's header compiled once. Which files are
//! compiled when is the workshop's business.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One compiler with its flags, and a linker: each leaves other traces in a program.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub name: &'static str,
    compiler: &'static str,
    optimisation: &'static str,
    linker: &'static str,
    /// One section per function and variable.
    has_sections: bool,
    bitcode: Bitcode,
}

/// Where the bitcode of an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bitcode {
    Nowhere,
    /// Beside the code that was made of it.
    Embedded,
    /// In a file of its own; the compiler makes code of it when it links.
    Apart,
    /// In place of code, which the linker makes of every object with what it needs of the others.
    Thin,
    /// In place of code, which the linker makes of all objects in one piece.
    Full,
}

pub const VARIANTS: [Variant; 4] = [
    Variant {
        name: "g++-O0",
        compiler: "g++",
        optimisation: "-O0",
        linker: "bfd",
        has_sections: true,
        bitcode: Bitcode::Nowhere,
    },
    Variant {
        name: "g++-O2",
        compiler: "g++",
        optimisation: "-O2",
        linker: "mold",
        has_sections: true,
        bitcode: Bitcode::Nowhere,
    },
    Variant {
        name: "clang++-O0",
        compiler: "clang++",
        optimisation: "-O0",
        linker: "mold",
        has_sections: true,
        bitcode: Bitcode::Nowhere,
    },
    Variant {
        name: "clang++-O2",
        compiler: "clang++",
        optimisation: "-O2",
        linker: "lld",
        has_sections: true,
        bitcode: Bitcode::Nowhere,
    },
];

/// Calls inside one section may carry no relocation: selection is coarser, and must still be safe.
pub const WITHOUT_SECTIONS: Variant = Variant {
    name: "g++-O2-no-sections",
    compiler: "g++",
    optimisation: "-O2",
    linker: "mold",
    has_sections: false,
    bitcode: Bitcode::Nowhere,
};

/// Clang's own level, beside the code that was made of it.
pub const BITCODE_VARIANTS: [Variant; 3] = [
    Variant {
        name: "clang++-14-O0-bitcode",
        compiler: "clang++-14",
        optimisation: "-O0",
        linker: "mold",
        has_sections: false,
        bitcode: Bitcode::Embedded,
    },
    Variant {
        name: "clang++-19-O1-bitcode",
        compiler: "clang++-19",
        optimisation: "-O1",
        linker: "mold",
        has_sections: false,
        bitcode: Bitcode::Embedded,
    },
    Variant {
        name: "clang++-22-O2-bitcode",
        compiler: "clang++-22",
        optimisation: "-O2",
        linker: "mold",
        has_sections: false,
        bitcode: Bitcode::Embedded,
    },
];

/// Code is made when a program is linked: objects need not be in it as they are, and selection must still be safe.
/// By the newest linker, as the one of version 14 loses indirect functions.
pub const LINK_TIME: [Variant; 3] = [
    Variant {
        name: "clang++-15-O1-thin",
        compiler: "clang++-15",
        optimisation: "-O1",
        linker: "lld-22",
        has_sections: false,
        bitcode: Bitcode::Thin,
    },
    Variant {
        name: "clang++-16-O0-bc",
        compiler: "clang++-16",
        optimisation: "-O0",
        linker: "mold",
        has_sections: false,
        bitcode: Bitcode::Apart,
    },
    Variant {
        name: "clang++-22-O2-lto",
        compiler: "clang++-22",
        optimisation: "-O2",
        linker: "lld-22",
        has_sections: false,
        bitcode: Bitcode::Full,
    },
];

const GTEST_INCLUDE: &str = "#include <gtest/gtest.h>";

impl Variant {
    fn is_clang(&self) -> bool {
        self.compiler.starts_with("clang++")
    }

    /// How the name of an object ends: the compiler takes bitcode for what it is by its name alone.
    pub fn ending(&self) -> &'static str {
        match self.bitcode {
            Bitcode::Apart => "bc",
            Bitcode::Nowhere | Bitcode::Embedded | Bitcode::Thin | Bitcode::Full => "o",
        }
    }

    /// The variants whose exceptions hold here, too: an optimiser makes the same difference whoever reads it.
    pub fn likes(&self) -> [&'static str; 2] {
        let like = match (self.is_clang(), self.optimisation) {
            (true, "-O0") => "clang++-O0",
            (true, _) => "clang++-O2",
            (false, _) => self.name,
        };
        [self.name, like]
    }
}

/// A variant ready to compile.
pub struct Toolchain {
    pub variant: Variant,
    /// A header that includes GoogleTest, with its compiled form beside it.
    header: PathBuf,
}

impl Toolchain {
    pub fn prepare(variant: Variant, directory: &Path) -> Result<Toolchain, String> {
        let home = directory.join(variant.name);
        fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        let header = home.join("prelude.h");
        fs::write(&header, format!("{GTEST_INCLUDE}\n")).map_err(|error| error.to_string())?;
        let toolchain = Toolchain { variant, header };
        let mut command = toolchain.command(&home);
        if variant.is_clang() {
            command.arg("-fpch-instantiate-templates");
        }
        command.args(["-x", "c++-header", "prelude.h", "-o", "prelude.h.gch"]);
        finish(command)?;
        Ok(toolchain)
    }

    /// Compiles one source of a tree to `object`. Extra flags may not fit the compiled header, so they do
    /// without it, as do sources that do not include GoogleTest.
    pub fn compile(&self, tree: &Path, source: &str, object: &Path, extra: &[String]) -> Result<(), String> {
        let text = fs::read_to_string(tree.join(source)).map_err(|error| format!("{source}: {error}"))?;
        let is_precompiled = extra.is_empty() && text.starts_with(GTEST_INCLUDE);
        self.compile_with(tree, source, object, extra, is_precompiled)
    }

    pub fn compile_with(
        &self,
        tree: &Path,
        source: &str,
        object: &Path,
        extra: &[String],
        is_precompiled: bool,
    ) -> Result<(), String> {
        let mut command = self.command(tree);
        command.args(extra);
        if is_precompiled && self.variant.is_clang() {
            command.arg("-include-pch").arg(self.header.with_extension("h.gch"));
        } else if is_precompiled {
            command.arg("-include").arg(&self.header);
        }
        if self.variant.bitcode == Bitcode::Apart {
            command.arg("-emit-llvm");
        }
        command.args(["-c", source, "-o"]).arg(object);
        finish(command)
    }

    /// Links objects with GoogleTest, and with its `main` unless they bring their own.
    pub fn link(&self, objects: &[PathBuf], executable: &Path, has_main: bool) -> Result<(), String> {
        let mut command = Command::new(self.variant.compiler);
        match self.variant.bitcode {
            Bitcode::Nowhere | Bitcode::Embedded => {}
            Bitcode::Apart => drop(command.arg(self.variant.optimisation)),
            Bitcode::Thin => drop(command.args(["-flto=thin", self.variant.optimisation])),
            Bitcode::Full => drop(command.args(["-flto=full", self.variant.optimisation])),
        }
        command.arg(format!("-fuse-ld={}", self.variant.linker)).args(objects).arg("-o").arg(executable);
        if !has_main {
            command.arg("-lgtest_main");
        }
        command.args(["-lgtest", "-lpthread"]);
        finish(command)
    }

    fn command(&self, tree: &Path) -> Command {
        let mut command = Command::new(self.variant.compiler);
        command.current_dir(tree).args(["-std=c++17", self.variant.optimisation, "-w"]);
        command.arg(format!("-ffile-prefix-map={}=.", tree.display()));
        if self.variant.has_sections {
            command.args(["-ffunction-sections", "-fdata-sections"]);
        }
        match self.variant.bitcode {
            Bitcode::Nowhere | Bitcode::Apart => {}
            Bitcode::Embedded => drop(command.arg("-fembed-bitcode")),
            Bitcode::Thin => drop(command.arg("-flto=thin")),
            Bitcode::Full => drop(command.arg("-flto=full")),
        }
        if self.variant.compiler == "g++" {
            command.arg("-fmerge-constants");
        }
        command
    }
}

/// Runs a command to its end; a failure is the command with what it said.
pub fn finish(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?} could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed ({}):\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
