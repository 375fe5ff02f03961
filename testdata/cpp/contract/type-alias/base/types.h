#pragma once

using Count = unsigned short;
using Size = unsigned short;
