package p;

class Base {
}
