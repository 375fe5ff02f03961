package p;

class Names {
    static final String ALPHA = "p.plugins.Alpha";
}
