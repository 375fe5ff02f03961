package p;

class Caster {
    String name(Object object) {
        return ((Named) object).name();
    }
}
