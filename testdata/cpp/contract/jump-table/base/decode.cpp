__attribute__((noinline)) static int note(int value) {
    asm volatile("" : "+r"(value));
    return value;
}

int decode(int code) {
    switch (code) {
        case 0: return note(10);
        case 1: return note(21) + 1;
        case 2: return note(32) - 1;
        case 3: return note(43) * 2;
        case 4: return note(54) ^ 1;
        case 5: return note(65) | 1;
        case 6: return note(76) & 3;
        default: return note(0);
    }
}

int encode(int code) {
    switch (code) {
        case 0: return note(110);
        case 1: return note(121) + 1;
        case 2: return note(132) - 1;
        case 3: return note(143) * 2;
        case 4: return note(154) ^ 1;
        case 5: return note(165) | 1;
        case 6: return note(176) & 3;
        default: return note(100);
    }
}
