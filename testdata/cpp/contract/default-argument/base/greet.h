#pragma once

int greet(int times = 1);
