package p;

class Logger {
    static int level = Settings.level;

    static void touch() {}
}
