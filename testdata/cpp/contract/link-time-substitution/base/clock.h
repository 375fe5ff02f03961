#pragma once

int now();
