package p;

class StackTest implements StackContract {
    @Override
    public Stack make() {
        return new Stack();
    }
}
