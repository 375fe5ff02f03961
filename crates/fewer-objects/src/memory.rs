//! What the process does with memory that is freed. An analysis frees and takes large buffers all the time, and a
//! page that is given back to the system costs more to get again than most of what is done with it.

/// Lets the process keep what it frees, for its next buffers. For programs to call once, when they start.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_freed_memory() {
    /// The most that glibc takes for this setting: larger buffers are mapped one by one.
    const LARGEST_KEPT: libc::c_int = 32 << 20;
    /// How much is asked for at once. Every time the other threads that ask for a page have to wait.
    const STEP: libc::c_int = 4 << 20;
    // SAFETY: all calls only set a number within the allocator, and are refused if it is out of range.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_KEPT);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        libc::mallopt(libc::M_TOP_PAD, STEP);
    }
}

/// Other allocators have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed_memory() {}
