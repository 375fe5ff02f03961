package p;

class Stack {
    int size() {
        int count = 0;
        return count;
    }
}
