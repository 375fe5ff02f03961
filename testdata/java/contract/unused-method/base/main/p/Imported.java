package p;

import static p.Maths.twice;

class Imported {
    int four() {
        return twice(2);
    }
}
