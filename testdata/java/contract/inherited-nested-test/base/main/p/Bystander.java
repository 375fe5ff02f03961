package p;

class Bystander {
    int answer() {
        return 42;
    }
}
