package p;

class Control {
    int speed(String text) {
        switch (Signal.parse(text)) {
            case STOP:
                return 0;
            case GO:
                return 50;
            default:
                return -1;
        }
    }
}
