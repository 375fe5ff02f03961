#include "abacus/statistics.hpp"

#include <gtest/gtest.h>

namespace abacus {
namespace {

// The sample is made once for all tests of the suite.
class SampleTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { heights_ = new Sample{5, 1, 4, 1, 9, 4, 4, 2, 6, 2}; }

  static void TearDownTestSuite() {
    delete heights_;
    heights_ = nullptr;
  }

  static const Sample& heights() { return *heights_; }

 private:
  static Sample* heights_;
};

Sample* SampleTest::heights_ = nullptr;

TEST_F(SampleTest, Averages) {
  EXPECT_DOUBLE_EQ(mean(heights()), 3.8);
  EXPECT_DOUBLE_EQ(median(heights()), 4);
  EXPECT_DOUBLE_EQ(median({3, 1, 8}), 3);
  EXPECT_DOUBLE_EQ(median({3, 1, 8, 4}), 3.5);
  EXPECT_DOUBLE_EQ(mode(heights()), 4);
  EXPECT_DOUBLE_EQ(mode({7, 2, 7, 2, 1}), 2);
}

TEST_F(SampleTest, Spread) {
  EXPECT_DOUBLE_EQ(variance({2, 4, 4, 4, 5, 5, 7, 9}), 32.0 / 7);
  EXPECT_DOUBLE_EQ(standard_deviation({1, 5, 9}), 4);
  EXPECT_NEAR(variance(heights()), 6.1777778, 1e-7);
}

TEST_F(SampleTest, Percentiles) {
  EXPECT_DOUBLE_EQ(percentile(heights(), 0), 1);
  EXPECT_DOUBLE_EQ(percentile(heights(), 100), 9);
  EXPECT_DOUBLE_EQ(percentile({10, 20, 30}, 25), 15);
  EXPECT_DOUBLE_EQ(percentile({10, 20, 30, 40, 50}, 90), 46);
}

TEST(PairedSampleTest, Correlation) {
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {2, 4, 6}), 1);
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {5, 3, 1}), -1);
  EXPECT_NEAR(correlation({1, 2, 3, 4}, {1, 3, 2, 4}), 0.8, 1e-12);
}

TEST(PairedSampleTest, LinearFit) {
  const Line line = linear_fit({1, 2, 3, 4}, {6, 5, 7, 10});
  EXPECT_NEAR(line.slope, 1.4, 1e-12);
  EXPECT_NEAR(line.intercept, 3.5, 1e-12);
}

template <typename Real>
class RunningStatisticsTest : public testing::Test {
 protected:
  static RunningStatistics<Real> of(std::initializer_list<Real> values) {
    RunningStatistics<Real> statistics;
    for (const Real value : values) {
      statistics.add(value);
    }
    return statistics;
  }
};

TYPED_TEST_SUITE_P(RunningStatisticsTest);

TYPED_TEST_P(RunningStatisticsTest, FollowsTheValues) {
  EXPECT_EQ(this->of({3}).variance(), TypeParam(0));
  const auto statistics = this->of({1, 5, 9, 5});
  EXPECT_EQ(statistics.count(), 4u);
  EXPECT_EQ(statistics.mean(), TypeParam(5));
  EXPECT_NEAR(statistics.variance(), 32.0 / 3, 1e-5);
}

TYPED_TEST_P(RunningStatisticsTest, MergedEqualsTogether) {
  auto merged = this->of({1, 2, 6});
  merged.merge(this->of({}));
  EXPECT_EQ(merged.count(), 3u);
  merged.merge(this->of({4, 12}));
  EXPECT_EQ(merged.count(), 5u);
  EXPECT_NEAR(merged.mean(), 5, 1e-5);
  EXPECT_NEAR(merged.variance(), 19, 1e-4);
}

REGISTER_TYPED_TEST_SUITE_P(RunningStatisticsTest, FollowsTheValues, MergedEqualsTogether);

using RealTypes = testing::Types<float, double>;
INSTANTIATE_TYPED_TEST_SUITE_P(Real, RunningStatisticsTest, RealTypes);

}  // namespace
}  // namespace abacus
