// fvecs: vectors without a label, for files of vectors. They are normal around a hundred centres, much as descriptors
// of images are.
#include "generate/kind.hpp"

namespace stope::generate {
namespace {

constexpr std::int64_t kCentres = 100;

class Vectors final : public Kind {
 public:
  explicit Vectors(const GenerateOptions& options)
      : n_columns_(options.n_columns), spread_(or_default(options.noise, 0.3)) {
    for (std::int64_t c = 0; c < kCentres; ++c) {
      Random random = generator(options.seed, 3, c);
      for (std::int64_t j = 0; j < n_columns_; ++j) centres_.push_back(normal(random));
    }
  }

  std::vector<Column> columns() const override { return numeric_columns(n_columns_); }

  void draw(std::int64_t, Random& random, Row& to) const override {
    const double* centre = centres_.data() + random.below(kCentres) * static_cast<std::uint64_t>(n_columns_);
    for (std::int64_t j = 0; j < n_columns_; ++j) {
      to.values[static_cast<std::size_t>(j)] = centre[j] + spread_ * normal(random);
    }
  }

 private:
  std::int64_t n_columns_;
  double spread_;
  std::vector<double> centres_;  // [centre][column]
};

}  // namespace

std::unique_ptr<Kind> make_fvecs(const GenerateOptions& options) {
  return std::make_unique<Vectors>(options);
}

}  // namespace stope::generate
