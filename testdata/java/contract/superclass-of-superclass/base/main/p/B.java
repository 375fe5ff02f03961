package p;

class B extends A {}
