package p;

class Reader {
    int level(Class<?> type) {
        Info info = type.getAnnotation(Info.class);
        return info == null ? -1 : info.level();
    }
}
