// Integers written in other bases (2 to 36) and as Roman numerals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace abacus {

std::string to_radix(std::int64_t value, int radix);
std::optional<std::int64_t> parse_radix(std::string_view text, int radix);

// Roman numerals exist for 1 to 3999.
std::optional<std::string> to_roman(int value);
// Accepts only the canonical spelling: IV, not IIII.
std::optional<int> parse_roman(std::string_view text);

}  // namespace abacus
