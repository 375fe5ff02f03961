//! Alone in its process: a child's peak counts from its fork on, so other tests' memory would be in it.

use std::process::Command;

use fewer_bench::measure;

#[test]
fn the_peak_is_that_of_the_child() {
    let filled = "x=$(head -c 60000000 /dev/zero | tr '\\0' x)";
    let large = measure::child(Command::new("sh").args(["-c", filled])).unwrap().peak_bytes;
    let small = measure::child(&mut Command::new("true")).unwrap().peak_bytes;
    assert!(large > 60_000_000 && small < 30_000_000, "{large} {small}");
}
