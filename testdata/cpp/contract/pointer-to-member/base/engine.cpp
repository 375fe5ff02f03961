#include "engine.h"

int Engine::start() { return 1; }
int Engine::stop() { return 2; }
Action first_action() { return &Engine::start; }
int perform(Engine& engine, Action action) { return (engine.*action)(); }
