//! What outside functions do, judged by name: which are known to act on their arguments alone, which reach out
//! to files and processes. Used for initialisers and for inputs that are not code.

/// What a call out of the project may do to the rest of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing beyond its arguments and results.
    Local,
    /// Reads or writes a stream object that others may use too.
    Stream,
    /// Unknown or known to be process-wide.
    ProcessWide,
}

/// What a function brings in that is not code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Intake {
    Files,
    Programs,
    Libraries,
}

/// Local C functions and what compilers call by themselves.
const LOCAL: &[&str] = &[
    "_GLOBAL_OFFSET_TABLE_",
    "_Unwind_Resume",
    "__assert_fail",
    "__cxa_allocate_exception",
    "__cxa_atexit",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_begin_catch",
    "__cxa_call_unexpected",
    "__cxa_deleted_virtual",
    "__cxa_demangle",
    "__cxa_end_catch",
    "__cxa_free_exception",
    "__cxa_get_exception_ptr",
    "__cxa_guard_abort",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_thread_atexit",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__dso_handle",
    "__dynamic_cast",
    "__gxx_personality_v0",
    "__libc_single_threaded",
    "__memcpy_chk",
    "__memset_chk",
    "__snprintf_chk",
    "__stack_chk_fail",
    "__stack_chk_guard",
    "__tls_get_addr",
    "abort",
    "abs",
    "atof",
    "atoi",
    "atol",
    "bcmp",
    "calloc",
    "fflush",
    "fprintf",
    "fputc",
    "fputs",
    "free",
    "fwrite",
    "getenv",
    "isalnum",
    "isalpha",
    "isdigit",
    "isspace",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "printf",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "putchar",
    "puts",
    "qsort",
    "realloc",
    "snprintf",
    "stderr",
    "stdout",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strdup",
    "strlen",
    "strncmp",
    "strncpy",
    "strrchr",
    "strstr",
    "strtod",
    "strtol",
    "strtoul",
    "tolower",
    "toupper",
    "vsnprintf",
];

/// The C library's mathematics, for `double`; an `f` or `l` at the end makes the other types.
const MATHEMATICS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ilogb",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "modf",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbn",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];

fn is_mathematics(name: &str) -> bool {
    let stem = name.strip_suffix(['f', 'l']).unwrap_or(name);
    MATHEMATICS.contains(&name) || MATHEMATICS.contains(&stem)
}

/// The streams of C++: their formatting is shared state of the process, but only for those who use them.
const STREAMS: &[&str] = &[
    "_ZSt3cin",
    "_ZSt4cerr",
    "_ZSt4clog",
    "_ZSt4cout",
    "_ZSt4wcin",
    "_ZSt5wcerr",
    "_ZSt5wclog",
    "_ZSt5wcout",
];

/// Parts of the C++ library that change how the whole process behaves.
const PROCESS_WIDE_STD: &[&str] = &[
    "_ZSt13set_terminate",
    "_ZSt14set_unexpected",
    "_ZSt15set_new_handler",
    "_ZNSt6locale6global",
    "_ZNSt6locale7classic",
    "_ZNSt8ios_base15sync_with_stdio",
    "_ZNSt6thread15_M_start_thread",
    "_ZSt4exit",
    "_ZNSt10filesystem",
    "_ZNSt3pmr20set_default_resource",
];

/// Registration of tests with GoogleTest: it records, and each test is mapped by name, not through it.
const REGISTRATION: &[&str] = &[
    "_ZN7testing8internal10AlwaysTrue",
    "_ZN7testing8internal11AlwaysFalse",
    "_ZN7testing8internal12TestNotEmpty",
    "_ZN7testing8internal12CodeLocation",
    "_ZN7testing8internal12TypeIdHelper",
    "_ZN7testing8internal13GetTestTypeId",
    "_ZN7testing8internal14TestFactoryBase",
    "_ZN7testing8internal15TestFactoryImpl",
    "_ZN7testing8internal15TestMetaFactory",
    "_ZN7testing8internal16SuiteApiResolver",
    "_ZN7testing8internal18ReportInvalidTestCaseType",
    "_ZN7testing8internal19TestMetaFactoryBase",
    "_ZN7testing8internal20TypedTestSuitePState",
    "_ZN7testing8internal19TypedTestCasePState",
    "_ZN7testing8internal23InsertSyntheticTestCase",
    "_ZN7testing8internal23MakeAndRegisterTestInfo",
    "_ZN7testing8internal26ReportInvalidTestSuiteType",
    "_ZN7testing8internal25ReportInvalidTestCaseType",
    "_ZN7testing8internal26ParameterizedTestSuiteInfo",
    "_ZN7testing8internal25ParameterizedTestCaseInfo",
    "_ZN7testing8internal34ParameterizedTestSuiteRegistry",
    "_ZN7testing8internal33ParameterizedTestCaseRegistry",
    "_ZN7testing8internal34RegisterTypeParameterizedTestSuite",
    "_ZN7testing8internal47RegisterTypeParameterizedTestSuiteInstantiation",
    "_ZN7testing8internal13MarkAsIgnored",
    "_ZN7testing8internal18FormatFileLocation",
    "_ZN7testing8internal39FormatCompilerIndependentFileLocation",
    "_ZN7testing8internal21UnitTestOptions",
    "_ZN7testing8internal6IsTrue",
    "_ZN7testing8internal8GTestLog",
    "_ZN7testing8internal9MutexBase",
    "_ZN7testing8internal5Mutex",
    "_ZN7testing8internal21TypeParameterizedTestI",
    "_ZN7testing8internal26TypeParameterizedTestSuiteI",
    "_ZN7testing8internal25TypeParameterizedTestCaseI",
    "_ZN7testing4Test",
    "_ZN7testing7Message",
    "_ZNK7testing7Message",
    "_ZN7testing8TestInfo",
    "_ZN7testing8UnitTest11GetInstanceEv",
    "_ZN7testing8UnitTest27parameterized_test_registryEv",
    "_ZTIN7testing",
    "_ZTSN7testing",
    "_ZTVN7testing",
];

/// Whether a symbol is part of registering tests with GoogleTest.
pub fn is_registration(name: &[u8]) -> bool {
    REGISTRATION.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// What an initialiser does to the process by using `name`, which the project does not define.
pub fn effect_of(name: &str) -> Effect {
    let has_prefix = |list: &[&str]| list.iter().any(|prefix| name.starts_with(prefix));
    if STREAMS.contains(&name) {
        return Effect::Stream;
    }
    if LOCAL.binary_search(&name).is_ok() || is_mathematics(name) || is_registration(name.as_bytes()) {
        return Effect::Local;
    }
    let changes_stream =
        name.contains("5rdbufEP") || name.contains("5imbueE") || name.contains("10exceptionsE");
    let is_std = has_prefix(&[
        "_ZNSt", "_ZNKSt", "_ZSt", "_ZNSa", "_ZNKSa", "_ZNSs", "_ZNKSs", "_ZNSo", "_ZNSi", "_ZStls",
        "_ZNSolsE",
    ]);
    let is_runtime = has_prefix(&["_Znw", "_Zna", "_Zdl", "_Zda", "_ZTI", "_ZTS", "_ZTV"]);
    if is_runtime || (is_std && !has_prefix(PROCESS_WIDE_STD) && !changes_stream) {
        return Effect::Local;
    }
    Effect::ProcessWide
}

/// What a function of that name brings in, if anything.
pub fn intake_of(name: &str) -> Option<Intake> {
    const FILES: &[&str] = &[
        "creat",
        "fopen",
        "fopen64",
        "freopen",
        "freopen64",
        "open",
        "open64",
        "openat",
        "openat64",
        "opendir",
        "scandir",
        "scandir64",
        "stat",
        "stat64",
        "lstat",
        "access",
        "fstatat",
        "glob",
        "glob64",
        "nftw",
        "ftw",
        "realpath",
        "__open_2",
        "__open64_2",
        "__xstat",
        "__xstat64",
        "__lxstat",
        "readlink",
    ];
    const FILE_PARTS: &[&str] =
        &["basic_filebuf", "basic_ifstream", "basic_fstream", "NSt10filesystem", "__basic_file"];
    const PROGRAMS: &[&str] = &[
        "execl",
        "execle",
        "execlp",
        "execv",
        "execve",
        "execvp",
        "execvpe",
        "fexecve",
        "popen",
        "posix_spawn",
        "posix_spawnp",
        "system",
        "wordexp",
    ];
    const LIBRARIES: &[&str] = &["dlopen", "dlmopen"];
    let is_cpp_file = name.starts_with("_Z") && FILE_PARTS.iter().any(|part| name.contains(part));
    if FILES.contains(&name) || is_cpp_file {
        Some(Intake::Files)
    } else if PROGRAMS.contains(&name) {
        Some(Intake::Programs)
    } else if LIBRARIES.contains(&name) {
        Some(Intake::Libraries)
    } else {
        rust_intake_of(name)
    }
}

/// What a function of Rust's standard library brings in, in either mangling. That library opens files for its own
/// ends too (to print a backtrace, to find randomness), so what counts is which part of it the project calls.
fn rust_intake_of(name: &str) -> Option<Intake> {
    const FILES: &[&str] = &["3std2fs", "3std3sys2fs", "4unix2fs", "std..fs..", "std..sys..fs.."];
    const PATHS: &[&str] = &["3std4path", "std..path.."];
    const OF_PATHS: &[&str] = &[
        "6exists",
        "10try_exists",
        "7is_file",
        "6is_dir",
        "10is_symlink",
        "8metadata",
        "16symlink_metadata",
        "12canonicalize",
        "8read_dir",
        "9read_link",
    ];
    const PROCESSES: &[&str] = &["3std7process", "3std3sys7process", "std..process..", "4unix7process"];
    const OF_PROCESSES: &[&str] = &["7Command", "5Child", "Command$", "4exec", "5spawn"];
    let is_rust = name.starts_with("_R") || (name.starts_with("_ZN") && name.ends_with('E'));
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if !is_rust {
        None
    } else if has(FILES) || (has(PATHS) && has(OF_PATHS)) {
        Some(Intake::Files)
    } else if has(PROCESSES) && has(OF_PROCESSES) {
        Some(Intake::Programs)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_local_functions_is_sorted_for_searching() {
        assert!(LOCAL.is_sorted());
    }

    #[test]
    fn unknown_functions_are_process_wide() {
        for name in [
            "atexit",
            "signal",
            "setenv",
            "_ZSt13set_terminatePFvvE",
            "vendor_init",
            "_ZN7testing24AddGlobalTestEnvironmentEPNS_11EnvironmentE",
            "_ZN7testing8UnitTest14AddEnvironmentEPNS_11EnvironmentE",
            "_ZNSt6locale6globalERKS_",
        ] {
            assert_eq!(effect_of(name), Effect::ProcessWide, "{name}");
        }
        for name in [
            "malloc",
            "_Znwm",
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EPKcRKS3_",
            "_ZNSt8ios_base4InitC1Ev",
            "_ZN7testing8internal23MakeAndRegisterTestInfoEPKcS2_",
        ] {
            assert_eq!(effect_of(name), Effect::Local, "{name}");
        }
        assert_eq!(effect_of("_ZSt4cout"), Effect::Stream);
    }

    #[test]
    fn functions_that_read_files_or_start_programs_are_known() {
        assert_eq!(intake_of("fopen"), Some(Intake::Files));
        assert_eq!(
            intake_of("_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode"),
            Some(Intake::Files)
        );
        assert_eq!(intake_of("posix_spawn"), Some(Intake::Programs));
        assert_eq!(intake_of("dlopen"), Some(Intake::Libraries));
        assert_eq!(intake_of("_Z4openv"), None);
        assert_eq!(intake_of("_RNvNvNtCsjrHSEGnQ3l9_3std2fs14read_to_string5inner"), Some(Intake::Files));
        assert_eq!(intake_of("_RNvMs_NtCsjrHSEGnQ3l9_3std4pathNtB4_4Path6exists"), Some(Intake::Files));
        assert_eq!(intake_of("_ZN3std7process7Command5spawn17h0123456789abcdefE"), Some(Intake::Programs));
        assert_eq!(intake_of("_ZN3std7process4exit17h0123456789abcdefE"), None);
    }
}
