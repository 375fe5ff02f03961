#include <gtest/gtest.h>
#include "node.h"

TEST(Node, LeafIsPrintable) {
    Leaf leaf;
    EXPECT_TRUE(printable(&leaf));
}

TEST(Node, TwigIsPrintable) {
    Twig twig;
    EXPECT_TRUE(printable(&twig));
}
