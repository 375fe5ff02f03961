#pragma once

struct Config {
    Config(int level);
    int level;
};

extern Config config;
