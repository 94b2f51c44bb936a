// Lists of neighbours as NumPy arrays: (offsets, indices, distances), as the core's Neighbors has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "stope/knn.hpp"

namespace stope::python {

/// A contiguous array of one dimension in the host's memory.
template <class T>
using Array1 = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// The lists as three arrays, which take their memory over.
nanobind::tuple tuple_of(Neighbors lists);

}  // namespace stope::python
