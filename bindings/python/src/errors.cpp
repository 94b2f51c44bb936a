#include "errors.hpp"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "stope/error.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

// An attribute is None where the place is not known.
nb::object known(const std::string& text) {
  return text.empty() ? nb::none() : nb::object(nb::str(text.c_str(), text.size()));
}
nb::object known(std::int64_t number, std::int64_t unknown) {
  return number == unknown ? nb::none() : nb::object(nb::int_(number));
}

void raise_error(const Error& error) {
  const nb::object exception =
      nb::module_::import_("stope.errors")
          .attr("_exception_of")(std::string(to_string(error.code())).c_str(), error.what(), known(error.option()),
                                 known(error.feature()), known(error.row(), -1), known(error.file()),
                                 known(error.line(), 0), known(error.column(), 0), known(error.bytes(), -1));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

}  // namespace

void raise(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (nb::python_error& raised) {
    raised.restore();
  } catch (...) {
    try {
      raise_error(error_of(error));
    } catch (nb::python_error& raised) {
      raised.restore();
    } catch (...) {
      PyErr_NoMemory();
    }
  }
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      raise(error);
    } catch (const std::bad_alloc&) {
      raise(error);
    } catch (const std::length_error&) {
      raise(error);
    }
  });
}

}  // namespace stope::python
