// Conversion between units of the same dimension, from one table of factors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace abacus {

enum class Dimension { Length, Mass, Time, Temperature };

struct Quantity {
  double value;
  std::string_view unit;
};

std::optional<Dimension> dimension_of(std::string_view unit);

// Nothing when a unit is unknown or the dimensions differ.
std::optional<double> convert(double value, std::string_view from, std::string_view to);

// The symbols of all units of a dimension, in the order of the table.
std::vector<std::string_view> units_of(Dimension dimension);

// Reads "12.5 km" or "12.5km". The unit of the result refers to the table, not to text.
std::optional<Quantity> parse_quantity(std::string_view text);

// 3723 is "1 h 2 min 3 s"; parts that are zero are left out.
std::string describe_duration(long seconds);

}  // namespace abacus
