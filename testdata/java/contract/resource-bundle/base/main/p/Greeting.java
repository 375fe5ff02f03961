package p;

import java.util.ResourceBundle;

class Greeting {
    String text() {
        return ResourceBundle.getBundle("p.messages", java.util.Locale.ROOT, Greeting.class.getClassLoader()).getString("greeting");
    }
}
