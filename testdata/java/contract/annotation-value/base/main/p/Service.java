package p;

@Info(level = 1)
class Service {}
