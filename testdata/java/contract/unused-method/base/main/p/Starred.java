package p;

import static p.Maths.*;

class Starred {
    int base() {
        return BASE;
    }
}
