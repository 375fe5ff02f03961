package p;

class StackTest extends AbstractStackTest {
    @Override
    Stack make() {
        return new Stack();
    }
}
