// mixed: numeric and nominal columns in turn, with different scales and numbers of values, and some values missing. The
// class of a row shifts its numbers and makes some of its nominal values likelier.
#include <cmath>
#include <limits>

#include "generate/kind.hpp"

namespace stope::generate {
namespace {

class Mixed final : public Kind {
 public:
  explicit Mixed(const GenerateOptions& options)
      : n_columns_(options.n_columns),
        n_classes_(or_default(options.n_classes, 2)),
        missing_(or_default(options.missing, 0.05)) {}

  std::vector<Column> columns() const override {
    std::vector<Column> columns = numeric_columns(n_columns_);
    for (std::int64_t j = 1; j < n_columns_; j += 2) {
      columns[static_cast<std::size_t>(j)] = nominal_column("s" + std::to_string(j + 1), names("v", n_values(j)));
    }
    columns.push_back(nominal_column("class", names("c", n_classes_)));
    return columns;
  }

  void draw(std::int64_t, Random& random, Row& to) const override {
    const auto of = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n_classes_)));
    for (std::int64_t j = 0; j < n_columns_; ++j) {
      double& value = to.values[static_cast<std::size_t>(j)];
      const bool nominal = j % 2 != 0;
      value = nominal ? code(j, of, random) : scale(j) * (normal(random) + 0.5 * static_cast<double>(of));
      if (random.uniform() >= missing_) continue;
      value = nominal ? static_cast<double>(kMissingCode) : std::numeric_limits<double>::quiet_NaN();
    }
    to.values.back() = static_cast<double>(of);
  }

 private:
  // 2, 4, 8, ... 256 values, then again.
  static std::int64_t n_values(std::int64_t column) { return std::int64_t{2} << (column / 2 % 8); }
  // Then again.
  static double scale(std::int64_t column) {
    constexpr double kScales[] = {1.0, 100.0, 0.1};
    return kScales[column / 2 % 3];
  }
  static double code(std::int64_t column, std::int64_t of, Random& random) {
    const std::int64_t n = n_values(column);
    if (random.uniform() < 0.3) return static_cast<double>((of + column) % n);
    return static_cast<double>(random.below(static_cast<std::uint64_t>(n)));
  }

  std::int64_t n_columns_, n_classes_;
  double missing_;
};

}  // namespace

std::unique_ptr<Kind> make_mixed(const GenerateOptions& options) {
  return std::make_unique<Mixed>(options);
}

}  // namespace stope::generate
