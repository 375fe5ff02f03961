package p;

class Order {
    static int next = 0;
    static int first = ++next;
    static int second = ++next;
}
