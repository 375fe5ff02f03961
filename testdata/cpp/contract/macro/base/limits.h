#pragma once

#define WIDTH 80
#define HEIGHT 25
