#pragma once

inline int speed() { return 10; }
