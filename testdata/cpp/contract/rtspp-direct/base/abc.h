#pragma once

class A {
public:
    virtual ~A() = default;
    virtual int foo() { return 5; }
};

class B : public A {
public:
    int foo() override { return 20; }
};

class C : public A {
};
