//! A program whose code before its main function changes the whole process.

unsafe extern "C" {
    fn setenv(name: *const std::ffi::c_char, value: *const std::ffi::c_char, overwrite: i32) -> i32;
}

extern "C" fn start() {
    unsafe { setenv(c"WEATHER".as_ptr(), c"sunny".as_ptr(), 1) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

#[test]
fn adds() {
    assert_eq!(1 + 1, 2);
}

#[test]
fn knows_the_weather() {
    assert!(std::env::var("WEATHER").is_ok());
}
