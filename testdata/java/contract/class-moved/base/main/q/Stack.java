package q;

public class Stack {
    public int size() {
        return 0;
    }
}
