// Reads and writes cuts as JSON (stope/cuts_file.hpp).
#include "io/cuts_json.hpp"

#include <limits>
#include <new>

#include "base/checked.hpp"
#include "base/escape.hpp"
#include "base/guarded.hpp"
#include "base/name_index.hpp"
#include "io/bytes.hpp"
#include "io/json_tree.hpp"
#include "io/number.hpp"

namespace stope::io {
namespace {

// 256 MiB are tens of millions of cuts.
constexpr std::size_t kMostBytes = std::size_t{1} << 28;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Reads an infinity, for which JSON has no number.
bool infinity_of(std::string_view text, double& value) {
  if (text == "-inf" || text == "inf") {
    value = text == "inf" ? kInfinity : -kInfinity;
    return true;
  }
  return false;
}

class CutsReader {
 public:
  // The cuts may take `budget` bytes.
  CutsReader(const std::string& name, std::int64_t budget) : name_(name), budget_(budget), left_(budget) {}

  CutSet read(const JsonValue& root) {
    if (root.kind() != JsonValue::Kind::object) {
      throw Error(ErrorCode::invalid_data,
                  "cuts are a JSON object, an attribute's name before each list; "
                  "this is " +
                      std::string(root.kind_name()),
                  {name_});
    }
    CutSet cuts;
    count(checked::mul(root.size(), sizeof(AttributeCuts)));
    cuts.reserve(static_cast<std::size_t>(root.size()));
    for (const auto& [name, list] : root.items()) cuts.push_back(attribute(std::string(name), list));
    return cuts;
  }

 private:
  [[noreturn]] void fail(const std::string& attribute, const std::string& what) const {
    throw Error(ErrorCode::invalid_data, "cuts of '" + attribute + "': " + what, {.file = name_, .feature = attribute});
  }

  void count(std::int64_t bytes) {
    left_ -= bytes;
    if (left_ >= 0) return;
    throw Error(ErrorCode::out_of_memory,
                "the cuts need more than " + std::to_string(budget_ - left_) +
                    " bytes besides their JSON, but the memory limit leaves " + std::to_string(budget_),
                {name_});
  }

  AttributeCuts attribute(const std::string& name, const JsonValue& list) {
    if (name.empty()) fail(name, "an attribute needs a name");
    if (list.kind() != JsonValue::Kind::array) fail(name, std::string(list.kind_name()) + " is not a list of cuts");
    AttributeCuts cuts;
    cuts.name = name;
    cuts.symbolic = is_symbolic(name, list);
    count(std::ssize(name));
    if (cuts.symbolic) {
      cuts.values = values_of(name, list);
    } else {
      cuts.numbers = numbers_of(name, list);
    }
    return cuts;
  }

  std::vector<std::string> values_of(const std::string& name, const JsonValue& list) {
    constexpr std::int64_t kIndexed = 40;  // a value's view and its slots in the index
    count(checked::mul(list.size(), sizeof(std::string) + kIndexed));
    std::vector<std::string> values;
    values.reserve(static_cast<std::size_t>(list.size()));
    NameIndex seen(static_cast<std::size_t>(list.size()));
    for (const auto& item : list.items()) {
      const std::string_view text = item.value.text();
      if (seen.add(text) >= 0) fail(name, "the value '" + std::string(text) + "' occurs twice");
      count(std::ssize(text));
      values.emplace_back(text);
    }
    return values;
  }

  std::vector<double> numbers_of(const std::string& name, const JsonValue& list) {
    count(checked::mul(list.size(), sizeof(double)));
    std::vector<double> numbers;
    numbers.reserve(static_cast<std::size_t>(list.size()));
    for (const auto& item : list.items()) {
      double number = item.value.number();
      infinity_of(item.value.text(), number);
      if (!numbers.empty() && !(numbers.back() < number)) fail(name, "the numbers do not ascend");
      numbers.push_back(number + 0.0);
    }
    return numbers;
  }

  bool is_symbolic(const std::string& name, const JsonValue& list) const {
    bool has_number = false, has_value = false;
    for (const auto& item : list.items()) {
      double infinite = 0.0;
      if (item.value.kind() == JsonValue::Kind::number) {
        has_number = true;
      } else if (item.value.kind() != JsonValue::Kind::string) {
        fail(name, "a cut is a number or a string, not " + std::string(item.value.kind_name()));
      } else if (!infinity_of(item.value.text(), infinite)) {
        has_value = true;
      }
    }
    if (has_number && has_value) fail(name, "numbers and values are mixed");
    return has_value;
  }

  const std::string& name_;
  std::int64_t budget_, left_;
};

void append_cut(std::string& out, double cut) {
  if (cut == kInfinity || cut == -kInfinity) {
    out += json_text(cut > 0 ? "inf" : "-inf");
  } else {
    append_number(out, cut);
  }
}

void check_values(const AttributeCuts& cuts) {
  for (const std::string& value : cuts.values) {
    double infinite = 0.0;
    if (!infinity_of(value, infinite)) return;
  }
  if (cuts.values.empty()) return;
  throw Error(ErrorCode::unsupported, "the values of '" + cuts.name + "' would be read back as numbers",
              {.feature = cuts.name});
}

}  // namespace

CutSet parse_cuts(std::string_view json, const std::string& name, std::int64_t budget) {
  if (json.size() > kMostBytes) {
    throw Error(
        ErrorCode::invalid_data,
        "cuts of " + std::to_string(json.size()) + " bytes (at most " + std::to_string(kMostBytes) + " are read)",
        {name});
  }
  try {
    const JsonTree tree = parse_json(json, name, budget);
    return CutsReader(name, budget - tree.bytes()).read(tree.root());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "no memory to parse cuts of " + std::to_string(json.size()) + " bytes",
                {name});
  }
}

std::string cuts_text(const CutSet& cuts) {
  std::string out = "{";
  for (const AttributeCuts& one : cuts) {
    if (one.symbolic) check_values(one);
    out += out.size() > 1 ? ",\n " : "\n ";
    out += json_text(one.name);
    out += ": [";
    for (std::int64_t i = 0; i < one.size(); ++i) {
      if (i > 0) out += ", ";
      if (one.symbolic) {
        out += json_text(one.values[static_cast<std::size_t>(i)]);
      } else {
        append_cut(out, one.numbers[static_cast<std::size_t>(i)]);
      }
    }
    out += ']';
  }
  out += cuts.empty() ? "}\n" : "\n}\n";
  return out;
}

}  // namespace stope::io

namespace stope {

CutSet read_cuts(const std::string& path, const RunOptions& run) try {
  const io::Bytes bytes = io::load_bytes(path, run);
  return io::parse_cuts(bytes.view, bytes.name, memory_budget(run) - bytes.held);
} catch (...) {
  rethrow_as_error();
}

void write_cuts(OutputFile& file, const CutSet& cuts) try { file.write(io::cuts_text(cuts)); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
