#pragma once

int fill();
int drain();
