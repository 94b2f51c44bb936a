// Where plug-ins are looked for: the folder of the shared library, or of the program that it is linked into.
#pragma once

#include <string>

namespace stope {

/// The folder of the shared library or program that holds this code, with links followed.
std::string own_folder();

}  // namespace stope
