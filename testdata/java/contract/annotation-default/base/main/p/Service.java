package p;

@Info
class Service {}
