// wide: tables like expression levels of genes, with few rows and very many columns. Every column has its own level and
// spread and is skewed to the right. One column in fifty is shifted by `noise` spreads from class to class.
#include "base/exact_math.hpp"
#include "generate/kind.hpp"

namespace stope::generate {
namespace {

class Wide final : public Kind {
 public:
  explicit Wide(const GenerateOptions& options)
      : n_classes_(or_default(options.n_classes, 2)), shift_(or_default(options.noise, 1.0)) {
    for (std::int64_t j = 0; j < options.n_columns; ++j) {
      Random random = generator(options.seed, 2, j);
      Gene gene;
      gene.level = 4.0 + 4.0 * random.uniform();
      gene.spread = 0.2 + 0.8 * random.uniform();
      gene.shifted = random.below(50) == 0;
      genes_.push_back(gene);
    }
  }

  std::vector<Column> columns() const override {
    std::vector<Column> columns = numeric_columns(static_cast<std::int64_t>(genes_.size()));
    for (std::size_t j = 0; j < genes_.size(); ++j) columns[j].name = "g" + std::to_string(j + 1);
    columns.push_back(nominal_column("class", names("c", n_classes_)));
    return columns;
  }

  void draw(std::int64_t, Random& random, Row& to) const override {
    const std::uint64_t of = random.below(static_cast<std::uint64_t>(n_classes_));
    for (std::size_t j = 0; j < genes_.size(); ++j) {
      const Gene& gene = genes_[j];
      const double by = normal(random) + (gene.shifted ? shift_ * static_cast<double>(of) : 0.0);
      to.values[j] = math::exp(0.5 * (gene.level + gene.spread * by));
    }
    to.values.back() = static_cast<double>(of);
  }

 private:
  struct Gene {
    double level = 0.0, spread = 0.0;
    bool shifted = false;
  };

  std::int64_t n_classes_;
  double shift_;
  std::vector<Gene> genes_;
};

}  // namespace

std::unique_ptr<Kind> make_wide(const GenerateOptions& options) {
  return std::make_unique<Wide>(options);
}

}  // namespace stope::generate
