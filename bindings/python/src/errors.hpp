// stope::Error becomes an exception of stope/errors.py, with its place as attributes.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace stope::python {

/// Registers the translation of stope::Error, std::bad_alloc and std::length_error.
void bind_errors(nanobind::module_& module);

/// Raises `error` in Python; the caller holds the GIL and throws nanobind::python_error afterwards.
void raise(const std::exception_ptr& error) noexcept;

}  // namespace stope::python
