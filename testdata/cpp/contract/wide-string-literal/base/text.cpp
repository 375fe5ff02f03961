const wchar_t* greeting() { return L"hello"; }
const wchar_t* farewell() { return L"goodbye"; }
