// Every failure of a public function is a stope::Error. What else may leave the function's body becomes one here:
//
//   Table f(const Table& table) try {
//     ...
//   } catch (...) {
//     rethrow_as_error();
//   }
#pragma once

namespace stope {

/// Rethrows the exception that is being handled. An Error stays as it is. std::bad_alloc, std::length_error and a
/// thread that the system refuses become out_of_memory. Any other exception comes from a callback of the caller, such
/// as a sink, and stays as it is.
[[noreturn]] void rethrow_as_error();

}  // namespace stope
