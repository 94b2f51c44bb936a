#include "scan.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "stope/error.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

struct Found {
  bool nan = false;
  bool infinite = false;
};

// The largest pattern of bits without the sign says most: NaN is above infinity, which is above all numbers. A maximum
// of whole numbers is what compilers make vector instructions of.
template <class T, class Bits>
Bits largest(const T* data, std::int64_t n, std::int64_t stride) {
  Bits most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Bits bits = std::bit_cast<Bits>(data[i * stride]) & static_cast<Bits>(std::numeric_limits<Bits>::max() >> 1);
    most = bits > most ? bits : most;
  }
  return most;
}

template <class T>
bool any_infinite(const T* data, std::int64_t n, std::int64_t stride) {
  bool found = false;
  for (std::int64_t i = 0; i < n; ++i) found |= std::isinf(data[i * stride]);
  return found;
}

// Calls scan(first element, elements, stride) for runs along the dimension whose elements lie closest.
template <class T, class Scan>
void for_runs(const ArrayView& view, const Scan& scan) {
  const auto* data = static_cast<const T*>(view.data);
  std::int64_t outer = view.n_rows, inner = view.n_columns;
  std::int64_t outer_stride = view.row_stride, inner_stride = view.column_stride;
  if (outer_stride == 0) outer_stride = view.n_columns;
  if (std::abs(outer_stride) < std::abs(inner_stride) || inner == 1) {
    std::swap(outer, inner);
    std::swap(outer_stride, inner_stride);
  }
  if (outer > 1 && outer_stride == inner * inner_stride) {  // without gaps: one run
    inner *= outer;
    outer = 1;
  }
  for (std::int64_t i = 0; i < outer; ++i) scan(data + i * outer_stride, inner, inner_stride);
}

template <class T, class Bits>
Found scan(const ArrayView& view) {
  const Bits infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  Found found;
  for_runs<T>(view, [&](const T* data, std::int64_t n, std::int64_t stride) {
    const Bits most = stride == 1 ? largest<T, Bits>(data, n, 1) : largest<T, Bits>(data, n, stride);
    if (most < infinity) return;
    found.nan |= most > infinity;
    found.infinite = found.infinite || most == infinity || any_infinite(data, n, stride);
  });
  return found;
}

const char* finiteness(const AnyArray& array) {
  const ArrayView view = view_of(array);
  if (view.gpu >= 0) throw Error(ErrorCode::unsupported, "an array to check lies in the memory of a GPU");
  Found found;
  {
    const WithoutGil released;
    if (view.n_rows == 0 || view.n_columns == 0 || is_integer(view.type)) return "finite";
    found = view.type == ElementType::float64 ? scan<double, std::uint64_t>(view) : scan<float, std::uint32_t>(view);
  }
  if (found.infinite) return "infinite";
  return found.nan ? "nan" : "finite";
}

using Wide = unsigned __int128;

// Days of a count of units since 1970, rounded once; the least int64 is NumPy's NaT.
double days_of(std::int64_t count, std::int64_t units_per_day) {
  if (count == std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<double>::quiet_NaN();
  const auto size = static_cast<std::uint64_t>(count < 0 ? -count : count);
  if (size <= std::uint64_t{1} << 53) return static_cast<double>(count) / static_cast<double>(units_per_day);
  // Beyond 2^53 the count itself would be rounded. A quotient with 64 bits behind the point has more bits than a
  // double, so that its conversion rounds once; its last bit says whether anything is left over.
  const Wide shifted = Wide{size} << 64;
  const auto divisor = static_cast<Wide>(units_per_day);
  const Wide quotient = shifted / divisor | static_cast<Wide>(shifted % divisor != 0 ? 1 : 0);
  const double days = std::ldexp(static_cast<double>(quotient), -64);
  return count < 0 ? -days : days;
}

nb::object days(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& counts,
                std::int64_t units_per_day) {
  if (units_per_day < 1) throw Error(ErrorCode::invalid_argument, "a day has at least one unit");
  std::vector<double> result(counts.size());
  {
    const WithoutGil released;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = days_of(counts.data()[i], units_per_day);
  }
  return array_of(std::move(result));
}

}  // namespace

void bind_scan(nb::module_& module) {
  module.def("finiteness", &finiteness, nb::arg("array"),
             "\"finite\", \"nan\" (NaN and no infinity), or \"infinite\". One pass.");
  module.def("days", &days, nb::arg("counts"), nb::arg("units_per_day"),
             "Counts of units since 1970-01-01 as days, rounded once; NaT becomes NaN.");
}

}  // namespace stope::python
