package p;

class Polite implements Greeter {}
