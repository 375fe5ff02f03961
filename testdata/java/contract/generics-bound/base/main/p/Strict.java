package p;

class Strict extends Rule {}
