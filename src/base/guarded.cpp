#include "base/guarded.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "stope/error.hpp"

namespace stope {

void rethrow_as_error() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw error_of(std::current_exception());
  } catch (const std::length_error&) {
    throw error_of(std::current_exception());
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw Error(ErrorCode::out_of_memory, "the system refuses another thread");
  }
}

}  // namespace stope
