// The heavy headers of every test unit, precompiled.
#ifndef ATLAS_PRECOMPILED_GTEST
#define ATLAS_PRECOMPILED_GTEST
#include "precompiled/std.h"
#include <gtest/gtest.h>
#endif
