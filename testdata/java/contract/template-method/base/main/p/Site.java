package p;

class Site {
    static Template home() {
        return new Page();
    }
}
