#pragma once

struct Shape {
    virtual ~Shape();
    virtual int corners() const;
    virtual int sides() const;
};

struct Square : Shape {
    int corners() const override;
};

struct Circle : Shape {
    int corners() const override;
};

int outline(const Shape& shape);
