package p;

class Failure extends RuntimeException {}
