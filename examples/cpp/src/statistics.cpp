#include "abacus/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "abacus/check.hpp"

namespace abacus {
namespace {

Sample sorted(Sample sample) {
  std::sort(sample.begin(), sample.end());
  return sample;
}

// The sum of the products of the deviations from the means.
double joint_deviation(const Sample& x, const Sample& y) {
  require(x.size() == y.size(), "paired samples have the same size");
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return sum;
}

}  // namespace

double mean(const Sample& sample) {
  require(!sample.empty(), "a sample has at least one value");
  double sum = 0;
  for (const double value : sample) {
    sum += value;
  }
  return sum / static_cast<double>(sample.size());
}

double median(const Sample& sample) {
  require(!sample.empty(), "a sample has at least one value");
  const Sample ordered = sorted(sample);
  const std::size_t middle = ordered.size() / 2;
  return ordered.size() % 2 == 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}

double variance(const Sample& sample) {
  require(sample.size() >= 2, "a variance needs at least two values");
  return joint_deviation(sample, sample) / static_cast<double>(sample.size() - 1);
}

double standard_deviation(const Sample& sample) { return std::sqrt(variance(sample)); }

double mode(const Sample& sample) {
  require(!sample.empty(), "a sample has at least one value");
  const Sample ordered = sorted(sample);
  double best = ordered.front();
  std::size_t best_count = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    count = i > 0 && ordered[i] == ordered[i - 1] ? count + 1 : 1;
    if (count > best_count) {
      best = ordered[i];
      best_count = count;
    }
  }
  return best;
}

double percentile(const Sample& sample, double percentage) {
  require(!sample.empty(), "a sample has at least one value");
  require(percentage >= 0 && percentage <= 100, "a percentage is between 0 and 100");
  const Sample ordered = sorted(sample);
  const double rank = percentage / 100 * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  return ordered[below] + (rank - std::floor(rank)) * (ordered[above] - ordered[below]);
}

double correlation(const Sample& x, const Sample& y) {
  return joint_deviation(x, y) / std::sqrt(joint_deviation(x, x) * joint_deviation(y, y));
}

Line linear_fit(const Sample& x, const Sample& y) {
  const double slope = joint_deviation(x, y) / joint_deviation(x, x);
  return {slope, mean(y) - slope * mean(x)};
}

}  // namespace abacus
