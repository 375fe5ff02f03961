package p;

class Extra {}
