// Lists of neighbours as NumPy arrays: (offsets, indices, distances), as the core's Neighbors has them. Ranges of
// features as tuples.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stope/knn.hpp"

namespace stope::python {

/// A contiguous array of one dimension in the host's memory.
template <class T>
using Array1 = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// The lists as three arrays, which take their memory over.
nanobind::tuple tuple_of(Neighbors lists);

/// A feature's name, its smallest and its largest present value.
using NamedRange = std::tuple<std::string, double, double>;

FeatureRanges ranges_of(const std::vector<NamedRange>& ranges);

}  // namespace stope::python
