#pragma once

struct Node {
    virtual ~Node() = default;
};
struct Printable {
    virtual ~Printable() = default;
};
struct Leaf : Node, Printable {
};
struct Twig : Node, Printable {
};

bool printable(Node* node);
