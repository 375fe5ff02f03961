// The heavy headers of every unit, precompiled.
#ifndef ATLAS_PRECOMPILED_STD
#define ATLAS_PRECOMPILED_STD
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
#endif
