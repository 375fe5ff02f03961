//! A program with code that runs before its main function, as the crates ctor and inventory arrange it.

use std::sync::atomic::{AtomicU32, Ordering};

static STARTED: AtomicU32 = AtomicU32::new(0);

extern "C" fn start() {
    STARTED.store(5, Ordering::SeqCst);
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[test]
fn adds() {
    assert_eq!(1 + 1, 2);
}

#[test]
fn has_started() {
    assert!(STARTED.load(Ordering::SeqCst) > 4);
}
