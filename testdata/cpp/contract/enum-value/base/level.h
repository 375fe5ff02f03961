#pragma once

enum Level { LOW = 1, HIGH = 9 };
