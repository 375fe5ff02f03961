#include "abacus/units.hpp"

#include <charconv>

namespace abacus {
namespace {

// A value in a unit is value * factor + offset in the base unit of its dimension.
struct Unit {
  std::string_view symbol;
  Dimension dimension;
  double factor;
  double offset;
};

constexpr Unit units[] = {
    {"m", Dimension::Length, 1, 0},
    {"mm", Dimension::Length, 0.001, 0},
    {"cm", Dimension::Length, 0.01, 0},
    {"km", Dimension::Length, 1000, 0},
    {"in", Dimension::Length, 0.0254, 0},
    {"ft", Dimension::Length, 0.3048, 0},
    {"mi", Dimension::Length, 1609.344, 0},
    {"kg", Dimension::Mass, 1, 0},
    {"g", Dimension::Mass, 0.001, 0},
    {"lb", Dimension::Mass, 0.45359237, 0},
    {"oz", Dimension::Mass, 0.028349523125, 0},
    {"s", Dimension::Time, 1, 0},
    {"min", Dimension::Time, 60, 0},
    {"h", Dimension::Time, 3600, 0},
    {"d", Dimension::Time, 86400, 0},
    {"K", Dimension::Temperature, 1, 0},
    {"C", Dimension::Temperature, 1, 273.15},
    {"F", Dimension::Temperature, 5.0 / 9, 273.15 - 32 * 5.0 / 9},
};

const Unit* find_unit(std::string_view symbol) {
  for (const Unit& unit : units) {
    if (unit.symbol == symbol) {
      return &unit;
    }
  }
  return nullptr;
}

void append_part(std::string& text, long count, std::string_view unit) {
  if (count == 0) {
    return;
  }
  if (!text.empty()) {
    text += ' ';
  }
  text += std::to_string(count);
  text += ' ';
  text += unit;
}

}  // namespace

std::optional<Dimension> dimension_of(std::string_view unit) {
  const Unit* found = find_unit(unit);
  return found != nullptr ? std::optional<Dimension>(found->dimension) : std::nullopt;
}

std::optional<double> convert(double value, std::string_view from, std::string_view to) {
  const Unit* source = find_unit(from);
  const Unit* target = find_unit(to);
  if (source == nullptr || target == nullptr || source->dimension != target->dimension) {
    return std::nullopt;
  }
  return (value * source->factor + source->offset - target->offset) / target->factor;
}

std::vector<std::string_view> units_of(Dimension dimension) {
  std::vector<std::string_view> symbols;
  for (const Unit& unit : units) {
    if (unit.dimension == dimension) {
      symbols.push_back(unit.symbol);
    }
  }
  return symbols;
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) {
    return std::nullopt;
  }
  std::string_view symbol(rest, static_cast<std::size_t>(end - rest));
  if (!symbol.empty() && symbol.front() == ' ') {
    symbol.remove_prefix(1);
  }
  const Unit* unit = find_unit(symbol);
  return unit != nullptr ? std::optional<Quantity>({value, unit->symbol}) : std::nullopt;
}

std::string describe_duration(long seconds) {
  std::string text;
  append_part(text, seconds / 86400, "d");
  append_part(text, seconds % 86400 / 3600, "h");
  append_part(text, seconds % 3600 / 60, "min");
  append_part(text, seconds % 60, "s");
  return text.empty() ? "0 s" : text;
}

}  // namespace abacus
