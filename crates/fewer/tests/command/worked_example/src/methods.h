#pragma once

int m();
int p();
int q();
