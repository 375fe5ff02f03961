//! What the process does with memory that is freed. An analysis frees and takes large buffers all the time, and a
//! page that is given back to the system costs more to get again than most of what is done with it.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use glibc::{keep_freed_memory, make_ready};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ops::Range;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The most that glibc takes for this setting: larger buffers are mapped one by one.
    const LARGEST_KEPT: usize = 32 << 20;
    /// How much is asked for at once. Every time the other threads that ask for a page have to wait.
    const STEP: libc::c_int = 4 << 20;
    const PAGE: usize = 4096;

    static IS_KEPT: AtomicBool = AtomicBool::new(false);

    /// Lets the process keep what it frees, for its next buffers. For programs to call once, when they start.
    pub fn keep_freed_memory() {
        // SAFETY: all calls only set a number within the allocator, and are refused if it is out of range.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_KEPT as libc::c_int);
            libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
            libc::mallopt(libc::M_TOP_PAD, STEP);
        }
        IS_KEPT.store(true, Ordering::Relaxed);
    }

    /// Takes memory at once that this thread will soon need: page by page it costs a third more.
    pub fn make_ready(bytes: usize) {
        if !IS_KEPT.load(Ordering::Relaxed) {
            return;
        }
        let mut room: Vec<u8> = Vec::with_capacity(bytes.min(LARGEST_KEPT / 2));
        let Range { start, end } = room.spare_capacity_mut().as_mut_ptr_range();
        let pages = (start as usize).next_multiple_of(PAGE)..end as usize / PAGE * PAGE;
        if !pages.is_empty() {
            // SAFETY: the pages are within a buffer of our own. Only whether they are there changes, not what they hold; a
            // system that does not know the request refuses it.
            unsafe {
                libc::madvise(pages.start as *mut libc::c_void, pages.len(), libc::MADV_POPULATE_WRITE);
            }
        }
    }
}

/// Other allocators have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed_memory() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn make_ready(_bytes: usize) {}
