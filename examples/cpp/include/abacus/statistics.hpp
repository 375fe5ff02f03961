// Descriptive statistics of samples. The functions on a whole sample need at least one value (two where they
// divide by n - 1); RunningStatistics takes the values one by one and keeps none.
#pragma once

#include <cstddef>
#include <vector>

namespace abacus {

using Sample = std::vector<double>;

struct Line {
  double slope;
  double intercept;
};

double mean(const Sample& sample);
double median(const Sample& sample);
// With n - 1 in the denominator.
double variance(const Sample& sample);
double standard_deviation(const Sample& sample);
// The most frequent value; the smallest of them if there are several.
double mode(const Sample& sample);
// The value below which the given percentage (0 to 100) of the sample lies.
double percentile(const Sample& sample, double percentage);
// Pearson's coefficient of two samples of the same size.
double correlation(const Sample& x, const Sample& y);
// The line through the points (x, y) with the least squares of errors.
Line linear_fit(const Sample& x, const Sample& y);

template <typename Real>
class RunningStatistics {
 public:
  // Welford's update: stable where the mean is large and the variance small.
  void add(Real value) {
    ++count_;
    const Real distance = value - mean_;
    mean_ += distance / static_cast<Real>(count_);
    squares_ += distance * (value - mean_);
  }

  void merge(const RunningStatistics& other) {
    if (other.count_ == 0) {
      return;
    }
    const Real distance = other.mean_ - mean_;
    const std::size_t total = count_ + other.count_;
    const Real weight = static_cast<Real>(other.count_) / static_cast<Real>(total);
    squares_ += other.squares_ + distance * distance * weight * static_cast<Real>(count_);
    mean_ += distance * weight;
    count_ = total;
  }

  std::size_t count() const { return count_; }
  Real mean() const { return mean_; }
  Real variance() const { return count_ < 2 ? Real(0) : squares_ / static_cast<Real>(count_ - 1); }

 private:
  std::size_t count_ = 0;
  Real mean_ = 0;
  Real squares_ = 0;
};

}  // namespace abacus
