package p;

import q.*;

class User {
    String name() {
        return new Thing().name();
    }
}
