const char* greeting() { return "hello"; }
const char* farewell() { return "goodbye"; }
