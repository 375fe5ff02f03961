package p;

class Thrower {
    String run() {
        try {
            throw new Failure();
        } catch (IllegalStateException known) {
            return "known";
        } catch (RuntimeException other) {
            return "other";
        }
    }
}
