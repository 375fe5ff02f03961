package p;

class Stack {
    int size() {
        return 0;
    }
}
