package p.sub;

public class Leaf {}
