#pragma once

struct Engine {
    int start();
    int stop();
};

using Action = int (Engine::*)();
Action first_action();
int perform(Engine& engine, Action action);
