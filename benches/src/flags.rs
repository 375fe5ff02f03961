//! What flags of the compiler bring and cost: how many tests of the example are selected, CPU time of building and
//! bytes on disk, relative to the same compiler without them. `docs/cpp.md` and `fewer doctor` tell these figures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use fewer_objects::VirtualCalls;

use crate::builder::{Build, Builder, Cost, Unit};
use crate::cache::user_cache;
use crate::example::Example;
use crate::generate::{Parameters, Project};
use crate::measure::Spread;
use crate::report::{Report, Unit as ReportUnit};

const GCC: Builder =
    Builder { name: "g++", compiler: "g++", archiver: "ar", flags: "-O0", link_flags: "-fuse-ld=mold" };
const CLANG: Builder = Builder {
    name: "clang++",
    compiler: "clang++-22",
    archiver: "llvm-ar-22",
    flags: "-O0",
    link_flags: "-fuse-ld=mold",
};

/// Each compiler's plain build first, which its others are compared with.
const BUILDERS: [&[Builder]; 2] = [
    &[
        GCC,
        Builder { name: "g++, sections", flags: "-O0 -ffunction-sections -fdata-sections", ..GCC },
        Builder {
            name: "g++, sections, merged constants",
            flags: "-O0 -ffunction-sections -fdata-sections -fmerge-constants",
            ..GCC
        },
    ],
    &[
        CLANG,
        CLANG_SECTIONS,
        CLANG_BITCODE,
        Builder {
            name: "clang++, thin lto",
            flags: "-O0 -flto=thin",
            link_flags: "-flto=thin -O0 -fuse-ld=lld",
            ..CLANG
        },
    ],
];

pub const CLANG_SECTIONS: Builder =
    Builder { name: "clang++, sections", flags: "-O0 -ffunction-sections -fdata-sections", ..CLANG };
pub const CLANG_BITCODE: Builder =
    Builder { name: "clang++, embedded bitcode", flags: "-O0 -fembed-bitcode", ..CLANG };

const INCLUDES: &str = "-I../source -I../source/tests";

/// Small enough to be compiled by every builder.
fn generated() -> Project {
    Project::generate(&Parameters {
        libraries: 1,
        units_per_library: 12,
        executables_per_library: 1,
        ..Parameters::default()
    })
}

pub fn measure(repeats: u16, report: &mut Report) -> Result<()> {
    let directory = user_cache()?.join("flags");
    for builders in BUILDERS {
        let mut plain: Option<[Vec<Cost>; 2]> = None;
        for builder in builders {
            eprintln!("building the example and a generated project with {}", builder.name);
            let example = Example::open(&directory.join("example"), *builder)?;
            let compiled = compiled(&directory.join("generated"), *builder)?;
            let costs = |build: &dyn Fn() -> Result<Cost>| -> Result<Vec<Cost>> {
                (0..repeats).map(|_| build()).collect()
            };
            let costs = [costs(&|| example.cost())?, costs(&|| compiled.cost())?];
            let selected = example.history_shares(&[VirtualCalls::default()])?[0];
            eprintln!("{}: {selected:.3} selected, {costs:?}", builder.name);
            share(report, &format!("selected, {}", builder.name), selected);
            let plain = plain.get_or_insert_with(|| costs.clone());
            for (what, (these, others)) in ["example", "generated"].iter().zip(costs.iter().zip(plain.iter()))
            {
                add_costs(report, &format!("{what}, {}", builder.name), these, others);
            }
        }
    }
    Ok(())
}

/// A figure that is the same in every run.
pub fn share(report: &mut Report, name: &str, share: f64) {
    report.add(name, ReportUnit::Ratio, Spread::of([share]), None);
}

fn add_costs(report: &mut Report, name: &str, these: &[Cost], plain: &[Cost]) {
    let seconds = |costs: &[Cost]| costs.iter().map(|cost| cost.cpu).collect::<Vec<_>>();
    let (these_seconds, plain_seconds) = (seconds(these), seconds(plain));
    report.add(&format!("CPU, {name}"), ReportUnit::CpuSeconds, Spread::of_seconds(&these_seconds), None);
    let ratio = Spread::of_paired_ratios(&these_seconds, &plain_seconds);
    report.add(&format!("CPU / plain, {name}"), ReportUnit::Ratio, ratio, None);
    share(report, &format!("bytes / plain, {name}"), these[0].bytes as f64 / plain[0].bytes as f64);
}

/// The sources of the generated project as objects: nothing is linked.
fn compiled(directory: &Path, builder: Builder) -> Result<Build> {
    let project = generated();
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    let mut units = Vec::new();
    for (path, text) in project.files.iter().filter(|(path, _)| path.starts_with("source/")) {
        let file = directory.join(path);
        fs::create_dir_all(file.parent().context("every file is in a directory")?)?;
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        if let Some(name) = path.strip_suffix(".cpp") {
            let object = format!("{}.o", name.trim_start_matches("source/").replace('/', "+"));
            let prelude = if path.starts_with("source/tests/") { "gtest" } else { "std" };
            units.push(Unit { source: format!("../{path}"), object, prelude });
        }
    }
    let heavy = |name: &str| project.files[&format!("source/precompiled/{name}.h")].clone();
    let (std, gtest) = (heavy("std"), heavy("gtest"));
    let preludes = [("std", std.as_str()), ("gtest", gtest.as_str())];
    let build = Build::begin(builder, &directory.join("build"), INCLUDES, &preludes)?;
    build.describe(INCLUDES, &units, "")?;
    Ok(build)
}
