//! The build of the generated project: `build.ninja`, and its link commands one by one.

use std::fmt::Write;

use crate::generate::Parameters;
use crate::generate::layout::Layout;

/// The command that links one test executable, to be run in the build directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Below the build directory.
    ///
    /// Example: `bin/text_0_tests`.
    pub executable: String,
    pub program: String,
    /// Everything but `-o` and the executable.
    pub arguments: Vec<String>,
}

pub(super) struct Ninja {
    pub text: String,
    pub links: Vec<Link>,
}

const COMPILER: &str = "g++";
/// mold hands its work to a child that nobody waits for, unless told not to; its CPU time would go uncounted.
const LINK_OPTIONS: [&str; 2] = ["-fuse-ld=mold", "-Wl,--no-fork"];
const TEST_LIBRARIES: [&str; 3] = ["-lgtest_main", "-lgtest", "-lpthread"];

pub(super) fn write(layout: &Layout, parameters: &Parameters) -> Ninja {
    let mut text = rules(&parameters.flags);
    for library in &layout.libraries {
        let mut objects = String::new();
        for unit in &library.units {
            let object = format!("obj/{}/{}.o", library.name, unit.name);
            let source = format!("../source/{}/{}.cpp", library.name, unit.name);
            compile(&mut text, &object, &source, "std");
            let _ = write!(objects, " {object}");
        }
        let _ = writeln!(text, "build lib/lib{}.a: archive{objects}", library.name);
    }
    let links: Vec<Link> =
        (0..layout.libraries.len()).flat_map(|library| executables(layout, parameters, library)).collect();
    for link in &links {
        let inputs: Vec<&str> =
            link.arguments.iter().filter(|argument| !argument.starts_with('-')).map(String::as_str).collect();
        for object in inputs.iter().filter(|input| input.ends_with(".o")) {
            let name = object.trim_start_matches("obj/").trim_end_matches(".o");
            compile(&mut text, object, &format!("../source/{name}.cpp"), "gtest");
        }
        let _ = writeln!(text, "build {}: link {}", link.executable, inputs.join(" "));
    }
    Ninja { text, links }
}

fn rules(flags: &str) -> String {
    let (options, libraries) = (LINK_OPTIONS.join(" "), TEST_LIBRARIES.join(" "));
    format!(
        "ninja_required_version = 1.5\n\
         flags = -std=c++17 {flags} -I../source -I../source/tests\n\
         rule precompile\n  command = {COMPILER} $flags -x c++-header -MMD -MF $out.d -c $in -o $out\n  \
         depfile = $out.d\n  deps = gcc\n\
         rule compile\n  command = {COMPILER} -Ipch $flags -include precompiled/$heavy.h -MMD -MF $out.d -c $in -o $out\n  \
         depfile = $out.d\n  deps = gcc\n\
         rule archive\n  command = rm -f $out && ar rcs $out $in\n\
         rule link\n  command = {COMPILER} {options} $in {libraries} -o $out\n\
         build pch/precompiled/std.h.gch: precompile ../source/precompiled/std.h\n\
         build pch/precompiled/gtest.h.gch: precompile ../source/precompiled/gtest.h\n"
    )
}

fn compile(text: &mut String, object: &str, source: &str, heavy: &str) {
    let _ =
        writeln!(text, "build {object}: compile {source} | pch/precompiled/{heavy}.h.gch\n  heavy = {heavy}");
}

fn executables(layout: &Layout, parameters: &Parameters, library: usize) -> Vec<Link> {
    let name = layout.libraries[library].name;
    let archives: Vec<String> = layout
        .closure(library)
        .into_iter()
        .map(|needed| format!("lib/lib{}.a", layout.libraries[needed].name))
        .collect();
    let executable = |index: usize| {
        let units = parameters.test_units_per_executable;
        let objects =
            (index * units..(index + 1) * units).map(|unit| format!("obj/tests/{name}_{unit}_test.o"));
        Link {
            executable: format!("bin/{name}_{index}_tests"),
            program: COMPILER.to_string(),
            arguments: LINK_OPTIONS
                .into_iter()
                .map(str::to_string)
                .chain(objects)
                .chain(archives.iter().cloned())
                .chain(TEST_LIBRARIES.map(str::to_string))
                .collect(),
        }
    };
    (0..parameters.executables_per_library).map(executable).collect()
}
