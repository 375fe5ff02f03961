package p;

class Reflect {
    static String read(Object object, String field) throws Exception {
        var found = object.getClass().getDeclaredField(field);
        found.setAccessible(true);
        return String.valueOf(found.get(object));
    }
}
