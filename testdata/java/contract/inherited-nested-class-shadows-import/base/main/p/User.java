package p;

import q.*;

class User extends Base {
    String name() {
        return new Thing().name();
    }
}
