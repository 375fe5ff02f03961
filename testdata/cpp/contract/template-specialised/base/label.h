#pragma once

template <class T>
struct Label {
    static int code() { return 1; }
};
