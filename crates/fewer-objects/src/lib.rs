//! C, C++ and whatever else becomes object files: from what a build leaves behind to the graph of fewer.
//!
//! `scan` finds and summarises files, [`Analysis`] links the summaries into one graph and knows where each test
//! begins. It never starts a process: listing and running tests is done elsewhere.

mod address_fields;
pub mod analysis;
pub mod bitcode;
mod by_element;
mod content_key;
mod dissolved;
mod effects;
mod eh_frame;
mod encoding;
mod environment;
mod explanations;
pub mod file_bytes;
mod file_records;
mod foreign;
mod found;
mod googletest;
pub mod image;
mod image_set;
mod in_order;
mod initialisers;
mod intakes;
mod kept;
mod known_names;
mod layout;
pub mod libtest;
mod line_numbers;
mod link;
mod membership;
pub mod memory;
mod name_map;
pub mod pack;
mod panic_places;
pub mod reader;
mod relocatable;
mod renewal;
pub mod scan;
mod shared_text;
pub mod summary;
pub mod surroundings;
mod symbol_names;
mod toolchain;
mod verification;
mod virtual_tables;

pub use analysis::{Analysis, Given, Target};
pub use encoding::KeptBytes;
pub use googletest::{ListedTest, plain_tests};
pub use intakes::NamedDigest;
pub use libtest::HarnessTest;
pub use scan::{
    BuildTree, NamedFile, NoCache, ScanError, Scanned, SummaryCache, scan, scan_again, scan_files,
};
pub use symbol_names::{demangled, rust_name};
pub use toolchain::Toolchain;
pub use virtual_tables::VirtualCalls;
