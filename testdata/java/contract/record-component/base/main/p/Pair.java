package p;

record Pair(int left, int right) {
    int sum() {
        return left + right;
    }
}
