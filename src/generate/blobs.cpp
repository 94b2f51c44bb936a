// blobs: each class has a centre, uniform in [-10, 10), and its rows are normally distributed around it.
#include "generate/kind.hpp"

namespace stope::generate {
namespace {

class Blobs final : public Kind {
 public:
  explicit Blobs(const GenerateOptions& options)
      : n_columns_(options.n_columns),
        n_classes_(or_default(options.n_classes, 3)),
        spread_(or_default(options.noise, 1.0)) {
    for (std::int64_t c = 0; c < n_classes_; ++c) {
      Random random = generator(options.seed, 1, c);
      for (std::int64_t j = 0; j < n_columns_; ++j) centres_.push_back(20.0 * random.uniform() - 10.0);
    }
  }

  std::vector<Column> columns() const override {
    std::vector<Column> columns = numeric_columns(n_columns_);
    columns.push_back(nominal_column("class", names("c", n_classes_)));
    return columns;
  }

  void draw(std::int64_t, Random& random, Row& to) const override {
    const std::uint64_t of = random.below(static_cast<std::uint64_t>(n_classes_));
    const double* centre = centres_.data() + of * static_cast<std::uint64_t>(n_columns_);
    for (std::int64_t j = 0; j < n_columns_; ++j) {
      to.values[static_cast<std::size_t>(j)] = centre[j] + spread_ * normal(random);
    }
    to.values.back() = static_cast<double>(of);
  }

 private:
  std::int64_t n_columns_, n_classes_;
  double spread_;
  std::vector<double> centres_;  // [class][column]
};

}  // namespace

std::unique_ptr<Kind> make_blobs(const GenerateOptions& options) {
  return std::make_unique<Blobs>(options);
}

}  // namespace stope::generate
