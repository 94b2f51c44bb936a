// Tables, a measure and options made from bytes: every filter of every instruction set, order, scan and part finds the
// neighbours that the reference finds, bit for bit, or refuses what it refuses.
//
// The first bytes choose, one byte for each choice; then a byte or more for each cell.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fuzz_table.hpp"
#include "knn/filter/forced.hpp"
#include "mutate.hpp"
#include "stope/device.hpp"
#include "stope/metric.hpp"

namespace {

using namespace stope;

// The bytes, one after the other; behind their end they begin again.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t byte() { return data_[at_++ % size_]; }
  std::size_t below(std::size_t n) { return byte() % n; }
  bool seldom() { return byte() % 16 == 15; }
  template <class List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }
  double any_double() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
    return std::bit_cast<double>(bits);
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

// How the cells of a column are made; each way aims at a part of the filters' bounds.
struct Maker {
  explicit Maker(Input& input) : kind(input.below(8)), offset(input.of(kOffsets)), scale(input.of(kScales)) {}
  double cell(Input& input, std::int64_t row) const {
    const std::uint8_t byte = input.byte();
    if (byte >= 250) return input.of(fuzz::kNumbers);
    switch (kind) {
      case 0: return byte % 4;                                                                      // ties
      case 1: return byte;                                                                          // bytes
      case 2: return offset + byte / 256.0;                                                         // cancellation
      case 3: return scale * (byte - 128.0);                                                        // huge or tiny
      case 4: return static_cast<double>(row) + byte * 1e-9;                                        // sorted
      case 5: return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0 + offset) + byte % 3);  // one ulp apart
      case 6: return byte < 200 ? 0.0 : byte < 240 ? scale : input.any_double();
      default: return byte < 128 ? byte / 7.0 : static_cast<double>(static_cast<float>(byte / 7.0)) + 1e-9;
    }
  }

  static constexpr std::array kOffsets{0.0, 1.0, 1e6, -1e6, 1e9, 0x1p52, 1e154, -0.0};
  static constexpr std::array kScales{1.0, 1e-3, 1e3, 1e-150, 1e150, 1e-310, 5e-324, 1e300};
  std::size_t kind;
  double offset, scale;
};

Table table_of(Input& input, const std::vector<Maker>& makers, std::size_t n_nominal, std::int64_t n,
               const Table* like) {
  Table table;
  table.n_rows = n;
  std::vector<std::int64_t> copies(static_cast<std::size_t>(n), -1);  // queries that are training rows, or nearly
  if (like != nullptr) {
    for (std::int64_t& copy : copies) {
      const std::uint8_t byte = input.byte();
      if (byte % 2 == 0) copy = byte / 2 % like->n_rows;
    }
  }
  for (std::size_t c = 0; c < makers.size(); ++c) {
    std::vector<double> values;
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int64_t copy = copies[static_cast<std::size_t>(row)];
      values.push_back(copy < 0 ? makers[c].cell(input, row) : like->columns[c].at(copy));
      if (copy >= 0 && input.seldom()) values.back() = std::nextafter(values.back(), HUGE_VAL);
    }
    table.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  for (std::size_t c = 0; c < n_nominal; ++c) {
    std::vector<std::string> names{"a", "b", "c", "d"};
    names.resize(1 + c % 4);
    if (like != nullptr && input.seldom()) names.emplace_back("unseen");
    std::vector<std::int32_t> codes;
    for (std::int64_t row = 0; row < n; ++row)
      codes.push_back(input.seldom() ? kMissingCode : static_cast<std::int32_t>(input.below(names.size())));
    table.columns.push_back(make_nominal("s" + std::to_string(c), codes, names));
  }
  return table;
}

Case case_of(Input& input) {
  constexpr std::array kRows{1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129};
  constexpr std::array kWeights{1.0, 0.5, 2.0, 1e-3, 1e3, 0.0, 1e-200, 1e200};
  constexpr std::array kRadii{0.0, 1e-9, 0.1, 1.0, 1.5, 10.0, 1e160, -1.0};
  Case c;
  const std::size_t n_nominal = input.below(4) == 3 ? input.below(4) : 0;
  const std::size_t n_numeric = n_nominal > 0 ? input.below(4) : 1 + input.below(input.seldom() ? 40 : 7);
  std::vector<Maker> makers;
  const Maker common(input);
  const bool alike = input.below(2) == 0;
  for (std::size_t i = 0; i < n_numeric; ++i) makers.push_back(alike ? common : Maker(input));
  c.train = table_of(input, makers, n_nominal, input.of(kRows), nullptr);
  const bool self = input.below(4) == 0;
  c.query =
      self ? c.train : table_of(input, makers, n_nominal, 1 + static_cast<std::int64_t>(input.below(40)), &c.train);
  if (input.below(2) == 0) {
    constexpr std::array kCommon{"euclidean", "sqeuclidean",       "manhattan",
                                 "cosine",    "cosine-similarity", "nan-euclidean"};
    c.knn.metric.name = n_nominal > 0 ? "mixed-euclidean" : input.of(kCommon);
  } else {
    c.knn.metric.name = input.of(metrics()).name;
  }
  if (input.below(8) == 0) c.knn.compat = Compat::rapidminer;
  if (input.below(4) == 0) {
    for (std::size_t i = 0; i < n_numeric + n_nominal; ++i) c.knn.feature_weights.push_back(input.of(kWeights));
  }
  c.search.exclude_self = self && input.below(2) == 0;
  if (n_nominal > 0 && input.seldom()) c.search.exclude_group = "s0";
  const std::size_t most = input.seldom() ? 140 : 8;
  c.search.n_neighbors = 1 + static_cast<std::int64_t>(input.below(most));
  if (input.seldom()) c.radius = input.of(kRadii);
  return c;
}

struct Answer {
  Neighbors lists;
  std::optional<ErrorCode> refusal;
};

Answer answer_or_refusal(const Case& c, const RunOptions& run) {
  try {
    return {answer(c, KnnIndex::fit(c.train, c.knn, run), run), {}};
  } catch (const Error& error) {
    fuzz::require(error.code() != ErrorCode::internal && error.what()[0] != '\0');
    return {{}, error.code()};
  }
}

void require_same(const Answer& ours, const Answer& theirs) {
  fuzz::require(ours.refusal == theirs.refusal);
  fuzz::require(ours.lists.offsets == theirs.lists.offsets && ours.lists.indices == theirs.lists.indices);
  fuzz::require(ours.lists.distances.size() == theirs.lists.distances.size());
  for (std::size_t i = 0; i < ours.lists.distances.size(); ++i)
    fuzz::require(fuzz::same_number(ours.lists.distances[i], theirs.lists.distances[i]));
}

std::vector<std::string> fast_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& backend : device_info().backends) {
    if (backend.available && backend.name != "reference" && backend.name != "cuda") names.push_back(backend.name);
  }
  return names;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return stope::fuzz::mutate_in_place(data, size, most, seed, 255);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 16) return 0;
  Input input(data, size);
  const std::string scan = input.of(std::array{"differences", "products", "nibbles", "bytes", ""});
  const std::string order = input.of(std::array{"near", "table", ""}),
                    visit = input.of(std::array{"queries", "tiles", ""});
  const auto tile = static_cast<std::int64_t>(1 + input.below(100));
  // A part of the table at a time: then it is not held encoded. Each tile of queries encodes every part again, so that
  // parts of one row would take minutes.
  const std::int64_t part = input.below(3) == 0 ? 12 + static_cast<std::int64_t>(input.below(140)) : 0;
  RunOptions run;
  run.threads = input.seldom() ? 2 : 1;
  const Case c = case_of(input);
  Answer expected;
  {
    const Forced forced("reference", "", "", 128, 0);
    expected = answer_or_refusal(c, run);
  }
  static const std::vector<std::string> backends = fast_backends();
  for (const std::string& backend : backends) {
    const Forced forced(backend, order, scan, tile, part, visit);
    require_same(answer_or_refusal(c, run), expected);
  }
  return 0;
}
