// Reads gram files from bytes (stope/gram_file.hpp).
#pragma once

#include "io/bytes.hpp"
#include "stope/gram_file.hpp"

namespace stope::io {

GramFile gram_file_of(const Bytes& bytes);
std::vector<float> gram_result_of(const Bytes& bytes);

}  // namespace stope::io
