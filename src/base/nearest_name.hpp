// "Did you mean": declared in the public header, because the command line asks it too.
#pragma once

#include "stope/nearest_name.hpp"
