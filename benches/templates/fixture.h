#pragma once
#include "@library@/registry.h"

#include <gtest/gtest.h>

namespace @library@_tests {

// What every fixture of this library's tests starts from.
class Fixture : public ::testing::Test {
 public:
  static void SetUpTestSuite() { stages_at_start_ = atlas::@library@::Registry::instance().names().size(); }

 protected:
  void SetUp() override { EXPECT_EQ(atlas::@library@::Registry::instance().names().size(), stages_at_start_); }

 private:
  static inline std::size_t stages_at_start_ = 0;
};

struct Case {
  std::int64_t in;
  std::int64_t out;
};

inline void PrintTo(const Case& value, std::ostream* out) { *out << value.in << " gives " << value.out; }

}  // namespace @library@_tests
