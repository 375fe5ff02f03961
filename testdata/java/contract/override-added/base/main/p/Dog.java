package p;

class Dog extends Animal {
}
