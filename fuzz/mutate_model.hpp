// A mutator of model files: options, tables, columns, values, types and sizes change, within a file or between two, and
// the checksum is made right.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model_parts.hpp"
#include "mutate.hpp"

namespace stope::fuzz {

class ModelMutator {
 public:
  ModelMutator(ModelParts parts, Choices& choices) : parts_(std::move(parts)), choices_(choices) {}

  /// `other`: a file to take parts from, if there is one.
  std::string mutated(const ModelParts* other) {
    if (other != nullptr) take_from(*other);
    for (std::size_t n = (other == nullptr ? 1 : 0) + choices_.below(3); n > 0; --n) change();
    if (choices_.one_in(8)) return bytes_with_a_lie(parts_, choices_.bits(), lie());
    return bytes_of(parts_);
  }

 private:
  std::uint64_t lie() { return choices_.one_in(2) ? choices_.of(kLies) : choices_.below(40); }

  // Moves, doubles or removes an element of a list, if there is one. Returns whether the list has elements still.
  template <class List>
  void shuffle(List& list) {
    if (list.empty()) return;
    const std::size_t at = choices_.below(list.size());
    const auto place = list.begin() + static_cast<std::ptrdiff_t>(at);
    switch (choices_.below(3)) {
      case 0: std::swap(list[at], list[choices_.below(list.size())]); break;
      case 1: {
        auto copy = list[choices_.below(list.size())];
        list.insert(place, std::move(copy));
        break;
      }
      default: list.erase(place);
    }
  }

  void change() {
    switch (choices_.below(10)) {
      case 0: shuffle(parts_.options); break;
      case 1:
      case 2: option(); break;
      case 3: table(); break;
      case 4: rows(); break;
      case 5:
      case 6: column(); break;
      default: value(); break;
    }
  }

  void option() {
    if (choices_.one_in(20)) parts_.kind = choices_.of(kKinds);
    if (parts_.options.empty()) return;
    auto& [name, value] = parts_.options[choices_.below(parts_.options.size())];
    std::string& text = choices_.one_in(6) ? name : value;
    switch (choices_.below(4)) {
      case 0: text = choices_.of(kNumberWords); break;
      case 1: text = choices_.of(kWords); break;
      case 2: text = choices_.of(parts_.options).second; break;
      default: text = mutated_by_libfuzzer(text, 40);
    }
  }

  void table() {
    if (parts_.tables.empty() || choices_.one_in(3)) return shuffle(parts_.tables);
    TablePart& to = parts_.tables[choices_.below(parts_.tables.size())];
    if (choices_.one_in(2)) return shuffle(to.columns);
    const TablePart& from = choices_.of(parts_.tables);
    if (from.columns.empty()) return;
    ColumnPart copy = choices_.of(from.columns);  // a column of another table
    resize(copy, to.n_rows);
    if (choices_.one_in(2)) copy.name = choices_.one_in(2) ? "" : copy.name + "2";
    to.columns.insert(to.columns.begin() + static_cast<std::ptrdiff_t>(choices_.below(to.columns.size() + 1)),
                      std::move(copy));
  }

  // Repeats or drops rows of all columns.
  void rows() {
    if (parts_.tables.empty()) return;
    TablePart& table = parts_.tables[choices_.below(parts_.tables.size())];
    table.n_rows = choices_.one_in(3) ? static_cast<std::int64_t>(choices_.below(40))
                                      : std::clamp<std::int64_t>(table.n_rows, 0, 4000) + 1 -
                                            static_cast<std::int64_t>(choices_.below(3));
    table.n_rows = std::max<std::int64_t>(table.n_rows, 0);
    for (ColumnPart& column : table.columns) resize(column, table.n_rows);
  }

  static void resize(ColumnPart& column, std::int64_t n_rows) {
    constexpr std::int64_t kMostRows = 4000;  // a table without columns may say any number
    const auto rows = static_cast<std::size_t>(std::clamp<std::int64_t>(n_rows, 0, kMostRows));
    const std::size_t size = rows * column.width(), had = column.data.size();
    column.data.resize(size, '\0');
    for (std::size_t i = had; i < size && had > 0; ++i) column.data[i] = column.data[i - had];
  }

  ColumnPart* any_column(TablePart*& of) {
    if (parts_.tables.empty()) return nullptr;
    of = &parts_.tables[choices_.below(parts_.tables.size())];
    return of->columns.empty() ? nullptr : &of->columns[choices_.below(of->columns.size())];
  }

  void column() {
    TablePart* of = nullptr;
    ColumnPart* const column = any_column(of);
    if (column == nullptr) return;
    switch (choices_.below(6)) {
      case 0: column->type = static_cast<std::uint8_t>(choices_.below(7)); break;
      case 1: column->role = static_cast<std::uint8_t>(choices_.below(6)); break;
      case 2:
        column->storage = static_cast<std::uint8_t>(choices_.below(4));
        resize(*column, of->n_rows);
        break;
      case 3:
        column->name = choices_.one_in(2) ? choices_.of(of->columns).name : mutated_by_libfuzzer(column->name, 40);
        break;
      case 4: shuffle(column->values); break;
      default:
        if (column->values.empty()) break;
        column->values[choices_.below(column->values.size())] =
            choices_.one_in(2) ? std::string(choices_.of(kWords))
                               : mutated_by_libfuzzer(choices_.of(column->values), 40);
    }
  }

  void value() {
    TablePart* of = nullptr;
    ColumnPart* const column = any_column(of);
    if (column == nullptr || column->data.empty()) return;
    const std::size_t n = column->data.size() / column->width();
    char* const to = column->data.data() + choices_.below(n) * column->width();
    if (choices_.one_in(3)) {  // another cell's value
      const std::string from = column->data.substr(choices_.below(n) * column->width(), column->width());
      std::memcpy(to, from.data(), from.size());
    } else if (column->storage == 0) {
      const double number = choices_.one_in(3) ? static_cast<double>(choices_.below(12)) : choices_.of(kNumbers);
      std::memcpy(to, &number, sizeof number);
    } else if (column->storage == 1) {
      const auto number = static_cast<float>(std::clamp(choices_.of(kNumbers), -3e38, 3e38));
      std::memcpy(to, &number, sizeof number);
    } else {
      const auto code = static_cast<std::int32_t>(
          choices_.one_in(4) ? lie() : choices_.below(column->values.size() + 1) - (choices_.one_in(4) ? 1 : 0));
      std::memcpy(to, &code, sizeof code);
    }
  }

  void take_from(const ModelParts& other) {
    const auto both = [&](auto& list, const auto& theirs) {
      if (theirs.empty()) return;
      auto copy = choices_.of(theirs);
      const std::size_t at = choices_.below(list.size() + 1);
      if (at < list.size() && choices_.one_in(2)) {
        list[at] = std::move(copy);
      } else {
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::move(copy));
      }
    };
    switch (choices_.below(4)) {
      case 0: both(parts_.options, other.options); break;
      case 1: both(parts_.tables, other.tables); break;
      case 2: parts_.options = other.options; break;
      default: {
        if (parts_.tables.empty() || other.tables.empty()) break;
        TablePart& to = parts_.tables[choices_.below(parts_.tables.size())];
        both(to.columns, choices_.of(other.tables).columns);
        for (ColumnPart& column : to.columns) resize(column, to.n_rows);
      }
    }
  }

  static constexpr std::array<std::string_view, 8> kKinds{"neighbors",     "normalization", "impute", "pca",
                                                          "least squares", "cuts",          "tree",   "chain"};
  static constexpr std::array<std::string_view, 33> kWords{"euclidean",
                                                           "mixed-euclidean",
                                                           "gower",
                                                           "cosine",
                                                           "hamming",
                                                           "mahalanobis",
                                                           "minkowski",
                                                           "metric.p",
                                                           "dtw",
                                                           "none",
                                                           "z",
                                                           "range",
                                                           "value",
                                                           "drop",
                                                           "mean",
                                                           "distance",
                                                           "uniform",
                                                           "balanced",
                                                           "codes",
                                                           "labels",
                                                           "error",
                                                           "yes",
                                                           "no",
                                                           "rapidminer",
                                                           "gini",
                                                           "entropy",
                                                           "1.kind",
                                                           "2.kind",
                                                           "class_weight.a",
                                                           "normalize",
                                                           "haversine",
                                                           "",
                                                           "?"};

  ModelParts parts_;
  Choices& choices_;
};

/// Mutates a model file. One time in eight, or where the bytes are none, libFuzzer mutates the bytes, and half of these
/// are sealed.
inline std::size_t mutate_model(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return mutate_with(data, size, most, seed, [&](std::string input, Choices& choices) {
    std::optional<ModelParts> parts = parts_of(input);
    if (!parts.has_value() || choices.one_in(8)) {
      std::string made = mutated_by_libfuzzer(std::move(input), most);
      return choices.one_in(2) ? resealed(std::move(made)) : made;
    }
    return ModelMutator(std::move(*parts), choices).mutated(nullptr);
  });
}

/// Joins two model files; returns 0 where one of them is none.
inline std::size_t cross_models(std::string_view one, std::string_view two, std::uint8_t* out, std::size_t most,
                                unsigned seed) {
  std::optional<ModelParts> parts = parts_of(one);
  const std::optional<ModelParts> other = parts_of(two);
  if (!parts.has_value() || !other.has_value()) return 0;
  Choices choices(seed);
  const std::string made = ModelMutator(std::move(*parts), choices).mutated(&*other);
  if (made.size() > most) return 0;
  std::memcpy(out, made.data(), made.size());
  return made.size();
}

}  // namespace stope::fuzz
