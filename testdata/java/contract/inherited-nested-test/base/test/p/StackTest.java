package p;

class StackTest extends StackBase {
    @Override
    Stack make() {
        return new Stack();
    }
}
