#pragma once

int open_files();
