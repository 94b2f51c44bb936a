// Random bytes as a file of cuts give a valid set, which is written as text that reads back, or a stope::Error.
#include <unordered_set>

#include "fuzz_table.hpp"
#include "io/cuts_json.hpp"
#include "mutate_json.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static constexpr std::string_view kWords[] = {"-inf", "inf", "?", "", "a", "age", "sex", "nan"};
  return stope::fuzz::mutate_json(data, size, most, seed, 0, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stope;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const CutSet cuts = io::parse_cuts(json, "fuzz");
    std::unordered_set<std::string> names;
    for (const AttributeCuts& one : cuts) {
      fuzz::require(!one.name.empty() && names.insert(one.name).second);
      fuzz::require(one.symbolic ? one.numbers.empty() : one.values.empty());
      for (std::size_t i = 1; i < one.numbers.size(); ++i) fuzz::require(one.numbers[i - 1] < one.numbers[i]);
    }
    const CutSet back = io::parse_cuts(io::cuts_text(cuts), "fuzz");
    fuzz::require(back.size() == cuts.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      fuzz::require(back[i].name == cuts[i].name && back[i].symbolic == cuts[i].symbolic);
      fuzz::require(back[i].numbers == cuts[i].numbers && back[i].values == cuts[i].values);
    }
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::invalid_data);
  }
  return 0;
}
