#include "factorize.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "stope/error.hpp"
#include "stope/table.hpp"
#include "stope/values.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

constexpr std::int32_t kFree = -1;

// A missing value is a view without data.
struct Factors {
  std::vector<std::int32_t> codes;  // into `first`
  std::vector<std::int64_t> first;  // the row where each distinct string stands first
};

// Numbers the distinct strings in order of appearance. Open addressing; the table is at most half full.
Factors number(const std::vector<std::string_view>& strings) {
  Factors found{.codes = std::vector<std::int32_t>(strings.size(), kMissingCode), .first = {}};
  std::vector<std::size_t> hashes;
  std::vector<std::int32_t> slots(1024, kFree);
  const auto place = [&](std::size_t hash, std::string_view string) {
    std::size_t slot = hash & (slots.size() - 1);
    while (slots[slot] != kFree) {
      const auto code = static_cast<std::size_t>(slots[slot]);
      if (hashes[code] == hash && strings[static_cast<std::size_t>(found.first[code])] == string) break;
      slot = (slot + 1) & (slots.size() - 1);
    }
    return slot;
  };
  for (std::size_t row = 0; row < strings.size(); ++row) {
    if (strings[row].data() == nullptr) continue;
    const std::size_t hash = std::hash<std::string_view>{}(strings[row]);
    std::size_t slot = place(hash, strings[row]);
    if (slots[slot] == kFree) {
      if (2 * found.first.size() >= slots.size()) {
        slots.assign(4 * slots.size(), kFree);
        for (std::size_t code = 0; code < hashes.size(); ++code) {
          std::size_t free = hashes[code] & (slots.size() - 1);
          while (slots[free] != kFree) free = (free + 1) & (slots.size() - 1);
          slots[free] = static_cast<std::int32_t>(code);
        }
        slot = place(hash, strings[row]);
      }
      slots[slot] = static_cast<std::int32_t>(found.first.size());
      found.first.push_back(static_cast<std::int64_t>(row));
      hashes.push_back(hash);
    }
    found.codes[row] = slots[slot];
  }
  return found;
}

// The first eight bytes as a number of the same order.
std::uint64_t prefix(std::string_view string) {
  std::uint64_t bytes = 0;
  if (!string.empty()) std::memcpy(&bytes, string.data(), std::min<std::size_t>(string.size(), sizeof(bytes)));
  return std::endian::native == std::endian::little ? __builtin_bswap64(bytes) : bytes;
}

// How many bytes all distinct strings begin with.
std::size_t common_length(const std::vector<std::string_view>& strings, const Factors& found) {
  if (found.first.empty()) return 0;
  std::string_view common = strings[static_cast<std::size_t>(found.first.front())];
  for (const std::int64_t row : found.first) {
    const std::string_view other = strings[static_cast<std::size_t>(row)];
    const auto end = std::mismatch(common.begin(), common.end(), other.begin(), other.end()).first;
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
    if (common.empty()) break;
  }
  return common.size();
}

// Renumbers the codes so that names are sorted by bytes, which for UTF-8 is the order of code points.
void sort(const std::vector<std::string_view>& strings, Factors& found) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> order(found.first.size());
  const auto string = [&](std::int32_t code) {
    return strings[static_cast<std::size_t>(found.first[static_cast<std::size_t>(code)])];
  };
  const std::size_t skipped = common_length(strings, found);  // "customer-000123": the digits tell names apart
  for (std::size_t code = 0; code < order.size(); ++code) {
    order[code] = {prefix(string(static_cast<std::int32_t>(code)).substr(skipped)), static_cast<std::int32_t>(code)};
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : string(a.second) < string(b.second);
  });
  std::vector<std::int32_t> rank(order.size());
  std::vector<std::int64_t> first(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto code = static_cast<std::size_t>(order[place].second);
    rank[code] = static_cast<std::int32_t>(place);
    first[place] = found.first[code];
  }
  for (std::int32_t& code : found.codes) {
    if (code >= 0) code = rank[static_cast<std::size_t>(code)];
  }
  found.first = std::move(first);
}

bool is_nan(nb::handle object) {
  return PyFloat_Check(object.ptr()) != 0 && PyFloat_AsDouble(object.ptr()) != PyFloat_AsDouble(object.ptr());
}

// None where an object is neither a string nor missing: such values are for the caller to name.
nb::object factorize(const nb::list& objects, nb::handle also_missing) {
  // The tuple holds the strings while other threads may change the list.
  const nb::object held = nb::steal(PyList_AsTuple(objects.ptr()));
  if (!held.is_valid()) throw nb::python_error();
  const auto n = static_cast<std::size_t>(PyTuple_Size(held.ptr()));
  if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::unsupported, "a column of strings has more than 2^31 - 1 rows");
  }
  std::vector<std::string_view> strings(n);
  for (std::size_t row = 0; row < n; ++row) {
    PyObject* object = PyTuple_GetItem(held.ptr(), static_cast<Py_ssize_t>(row));
    if (PyUnicode_Check(object) != 0) {
      Py_ssize_t size = 0;
      const char* data = PyUnicode_AsUTF8AndSize(object, &size);
      if (data == nullptr) throw nb::python_error();
      strings[row] = {data, static_cast<std::size_t>(size)};
    } else if (object != Py_None && !also_missing.is(object) && !is_nan(object)) {
      return nb::none();
    }
  }
  Factors found;
  Values names;
  {
    const WithoutGil released;
    found = number(strings);
    sort(strings, found);
    std::vector<std::string> texts;
    texts.reserve(found.first.size());
    for (const std::int64_t row : found.first) texts.emplace_back(strings[static_cast<std::size_t>(row)]);
    names = Values(std::move(texts));
  }
  return nb::make_tuple(array_of(std::move(found.codes)), names, array_of(std::move(found.first)));
}

}  // namespace

void bind_factorize(nb::module_& module) {
  module.def("factorize", &factorize, nb::arg("objects"), nb::arg("also_missing").none() = nb::none(),
             "Codes, sorted names and the row where each stands first, of a list of strings. None, NaN and "
             "`also_missing` are missing. Returns None if the list has anything else.");
}

}  // namespace stope::python
