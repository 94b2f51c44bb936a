// linear: y = 3 + sum of b_j x_j + noise * e, where x_j and e are standard normal and b_j = 1, -1/2, 1/3, -1/4, ...
#include "generate/kind.hpp"

namespace stope::generate {
namespace {

class Linear final : public Kind {
 public:
  explicit Linear(const GenerateOptions& options)
      : n_columns_(options.n_columns), noise_(or_default(options.noise, 0.1)) {}

  std::vector<Column> columns() const override {
    std::vector<Column> columns = numeric_columns(n_columns_ + 1);
    columns.back().name = "y";
    return columns;
  }

  void draw(std::int64_t, Random& random, Row& to) const override {
    double y = 3.0;
    for (std::int64_t j = 0; j < n_columns_; ++j) {
      // x is rounded first, so that y follows from the numbers in the file.
      const double x = rounded(normal(random));
      to.values[static_cast<std::size_t>(j)] = x;
      y += (j % 2 == 0 ? x : -x) / static_cast<double>(j + 1);
    }
    to.values.back() = y + noise_ * normal(random);
  }

 private:
  std::int64_t n_columns_;
  double noise_;
};

}  // namespace

std::unique_ptr<Kind> make_linear(const GenerateOptions& options) {
  return std::make_unique<Linear>(options);
}

}  // namespace stope::generate
