package p;

class Apply {
    int twice(int n) {
        java.util.function.IntUnaryOperator operator = Maths::twice;
        return operator.applyAsInt(n);
    }
}
