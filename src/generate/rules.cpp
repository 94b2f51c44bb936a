// rules: a class that two rules decide, so that a tree can find them: uniform numbers and nominal values in turn, and
//   yes if x1 > 0.6 and s2 is v0 or v1, or if x3 <= 0.2 (where there are so many columns), else no;
// a share `noise` of the classes is turned round.
#include "generate/kind.hpp"

namespace stope::generate {
namespace {

constexpr std::int64_t kValues = 4;

class Rules final : public Kind {
 public:
  explicit Rules(const GenerateOptions& options)
      : n_columns_(options.n_columns), noise_(or_default(options.noise, 0.05)) {}

  std::vector<Column> columns() const override {
    std::vector<Column> columns = numeric_columns(n_columns_);
    for (std::int64_t j = 1; j < n_columns_; j += 2) {
      columns[static_cast<std::size_t>(j)] = nominal_column("s" + std::to_string(j + 1), names("v", kValues));
    }
    columns.push_back(nominal_column("class", {"no", "yes"}));
    return columns;
  }

  void draw(std::int64_t, Random& random, Row& to) const override {
    std::vector<double>& values = to.values;
    for (std::int64_t j = 0; j < n_columns_; ++j) {
      values[static_cast<std::size_t>(j)] =
          j % 2 != 0 ? static_cast<double>(random.below(kValues)) : rounded(random.uniform());
    }
    const bool first = values[0] > 0.6 && (n_columns_ < 2 || values[1] <= 1.0);
    const bool second = n_columns_ >= 3 && values[2] <= 0.2;
    const bool turned = random.uniform() < noise_;
    values.back() = (first || second) != turned ? 1.0 : 0.0;
  }

 private:
  std::int64_t n_columns_;
  double noise_;
};

}  // namespace

std::unique_ptr<Kind> make_rules(const GenerateOptions& options) {
  return std::make_unique<Rules>(options);
}

}  // namespace stope::generate
