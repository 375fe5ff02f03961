package p;

class Probe {
    boolean present() {
        try {
            Class.forName("p.Extra");
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }
}
