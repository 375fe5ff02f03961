package p;

import java.util.Date;

class User {
    String kind() {
        return Date.class.getName();
    }
}
