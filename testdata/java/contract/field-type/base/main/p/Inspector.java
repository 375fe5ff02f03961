package p;

class Inspector {
    int methods() throws Exception {
        return Car.class.getDeclaredField("engine").getType().getDeclaredMethods().length;
    }
}
