#include <gtest/gtest.h>

int ticket();
int visitor();

TEST(Ticket, First) { EXPECT_EQ(100, ticket()); }
TEST(Visitor, First) { EXPECT_EQ(1, visitor()); }
