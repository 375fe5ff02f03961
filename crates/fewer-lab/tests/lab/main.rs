//! Whole histories through the whole lab, in temporary directories.

mod cleaning;
mod engines;
mod hand_computed;
mod imports;
mod kernels;
mod workbench;
