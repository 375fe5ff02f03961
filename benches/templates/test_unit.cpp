@includes@
#include "@library@_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

@open@
@tests@
class @Suite@Values : public ::testing::TestWithParam<@library@_tests::Case> {};

TEST_P(@Suite@Values, GivesWhatItShould) { EXPECT_EQ(@function@(GetParam().in), GetParam().out); }

TEST_P(@Suite@Values, GivesTheSameAgain) {
  std::vector<std::int64_t> results(3);
  std::generate(results.begin(), results.end(), [this] { return @function@(GetParam().in); });
  EXPECT_EQ(std::count(results.begin(), results.end(), GetParam().out), 3);
}

INSTANTIATE_TEST_SUITE_P(Some, @Suite@Values,
                         ::testing::Values(@cases@));

template <class T>
class @Suite@Typed : public ::testing::Test {
 protected:
  static T make(int number) {
    if constexpr (std::is_same_v<T, std::string>) {
      return std::string(1, static_cast<char>('a' + number));
    } else {
      return static_cast<T>(number);
    }
  }
};

using @Suite@Types = ::testing::Types<int, double, std::string>;
TYPED_TEST_SUITE(@Suite@Typed, @Suite@Types);

TYPED_TEST(@Suite@Typed, SortsWhatItWasGiven) {
  std::vector<TypeParam> values{this->make(3), this->make(@one_digit@), this->make(1)};
  std::sort(values.begin(), values.end());
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values.front(), this->make(1));
}

TYPED_TEST(@Suite@Typed, KeepsTheLast) {
  atlas::@library@::@Container@<TypeParam> values(2);
  for (int number = 0; number <= @one_digit@; ++number) values.push(this->make(number));
  EXPECT_EQ(values.last(), this->make(@one_digit@));
  EXPECT_EQ(values.size(), 2u);
}

@close@
