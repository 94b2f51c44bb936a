// The table of kinds, and the rows of a kind as columns (stope/generate.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/exact_math.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/number_text.hpp"
#include "base/thread_pool.hpp"
#include "generate/kind.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {
namespace generate {
namespace {

constexpr KindRow kKinds[] = {
    {"blobs", "a normal cloud for each class (--classes 3, --noise 1: its spread)", {true, false, true}, 8, make_blobs},
    {"mixed",
     "numbers and nominal values in turn, some missing (--classes 2, --missing-share 0.05)",
     {true, true, false},
     1200,
     make_mixed},
    {"rules",
     "a class that two rules decide (--noise 0.05: share of wrong classes)",
     {false, false, true},
     0,
     make_rules},
    {"linear", "a target y = 3 + x1 - x2/2 + x3/3 - ... (--noise 0.1)", {false, false, true}, 0, make_linear},
    {"wide",
     "as gene expression, one column in fifty tells the classes apart (--classes 2, --noise 1: by how many spreads)",
     {true, false, true},
     0,
     make_wide},
    {"fvecs", "vectors around a hundred centres, no label (--noise 0.3)", {false, false, true}, 800, make_fvecs},
};

const KindRow& find_kind(const std::string& name) {
  std::vector<std::string> known;
  for (const KindRow& row : kKinds) {
    if (name == row.name) return row;
    known.emplace_back(row.name);
  }
  std::string list;
  for (const std::string& kind : known) list += (list.empty() ? ": " : ", ") + kind;
  throw Error(ErrorCode::invalid_argument, "unknown kind of table '" + name + "'" + list + did_you_mean(name, known),
              {.option = "kind"});
}

void check(const KindRow& kind, const GenerateOptions& options) {
  const auto refuse = [&](const char* option, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, std::string(kind.name) + ": " + what, {.option = option});
  };
  if (options.n_columns < 1) refuse("n_columns", std::to_string(options.n_columns) + " columns: at least 1");
  if (options.n_rows < 1) refuse("n_rows", std::to_string(options.n_rows) + " rows: at least 1");
  if (options.n_classes != 0 && !kind.takes.classes) refuse("n_classes", "this kind has no number of classes");
  if (options.missing >= 0.0 && !kind.takes.missing) refuse("missing", "this kind has no missing values");
  if (options.noise >= 0.0 && !kind.takes.noise) refuse("noise", "this kind has no noise");
  if (options.n_classes < 0 || options.n_classes > 1'000'000) {
    refuse("n_classes", std::to_string(options.n_classes) + " classes: 1 to 1000000");
  }
  if (!(options.missing < 1.0))
    refuse("missing", "a share of " + number_text(options.missing) + " missing values: below 1");
  if (!(options.noise < 1e30)) refuse("noise", "noise of " + number_text(options.noise) + ": below 1e30");
}

/// Refuses a table whose columns alone, without a row, take more than the run may use.
void require_columns(const KindRow& kind, const GenerateOptions& options, const RunOptions& run) {
  const std::int64_t classes = kind.takes.classes ? std::max<std::int64_t>(options.n_classes, 3) : 1;
  const std::int64_t kept = kind.bytes_a_column * (kind.make == make_blobs ? classes : 1);
  const std::int64_t bytes = kColumnBytes + kept;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / bytes;
  require_memory(std::to_string(options.n_columns) + " columns without their values need",
                 std::min(options.n_columns, most) * bytes, run);
}

}  // namespace

double normal(Random& random) {
  for (;;) {
    const double a = 2.0 * random.uniform() - 1.0, b = 2.0 * random.uniform() - 1.0;
    const double s = a * a + b * b;
    if (s < 1.0 && s > 0.0) return a * std::sqrt(-2.0 * math::log(s) / s);
  }
}

double rounded(double value) {
  return std::nearbyint(value * 1e4) / 1e4 + 0.0;
}

Random generator(std::uint64_t seed, std::uint64_t stream, std::int64_t number) {
  const std::uint64_t base = Random(Random(seed).next() + stream).next();
  return Random(Random(base + static_cast<std::uint64_t>(number)).next());
}

std::vector<std::string> names(const std::string& prefix, std::int64_t n) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

std::vector<Column> numeric_columns(std::int64_t n) {
  std::vector<Column> columns;
  columns.reserve(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    columns.push_back({"x" + std::to_string(j + 1), ValueType::real, Role::regular, Buffer<double>(), {}});
  }
  return columns;
}

Column nominal_column(const std::string& name, Values values) {
  return {name, ValueType::nominal, Role::regular, Buffer<std::int32_t>(), std::move(values)};
}

}  // namespace generate

std::vector<GeneratedKind> generated_kinds() try {
  std::vector<GeneratedKind> kinds;
  for (const generate::KindRow& row : generate::kKinds) kinds.push_back({row.name, row.summary});
  return kinds;
} catch (...) {
  rethrow_as_error();
}

class TableGenerator::Impl {
 public:
  Impl(const GenerateOptions& options, const RunOptions& run) : options_(options) {
    const generate::KindRow& row = generate::find_kind(options.kind);
    generate::check(row, options);
    generate::require_columns(row, options, run);
    kind_ = row.make(options);
  }

  Table rows(std::int64_t first, std::int64_t n, const RunOptions& run) const {
    if (first < 0 || n < 0 || first > options_.n_rows - n) {
      throw Error(ErrorCode::invalid_argument, "rows " + std::to_string(first) + " to " + std::to_string(first + n) +
                                                   " of a table of " + std::to_string(options_.n_rows));
    }
    Table table;
    table.n_rows = n;
    table.columns = kind_->columns();
    for (Column& column : table.columns) {
      if (column.nominal()) {
        column.data = Buffer<std::int32_t>(n);
      } else {
        column.data = Buffer<double>(n);
      }
    }
    constexpr std::int64_t kValuesPerTask = std::int64_t{1} << 16;
    const auto width = static_cast<std::int64_t>(table.columns.size());
    const std::int64_t task_rows = std::max<std::int64_t>(1, kValuesPerTask / width);
    ThreadPool pool(n > task_rows ? run.threads : 1);
    pool.parallel_for(checked::ceil_div(n, task_rows), run.cancel, [&](std::int64_t task, int) {
      generate::Row row{std::vector<double>(table.columns.size())};
      const std::int64_t end = std::min(n, (task + 1) * task_rows);
      for (std::int64_t r = task * task_rows; r < end; ++r) {
        Random random = generate::generator(options_.seed, 0, first + r);
        kind_->draw(first + r, random, row);
        put(row, r, table);
      }
    });
    return table;
  }

 private:
  static void put(const generate::Row& row, std::int64_t at, Table& table) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      Column& column = table.columns[c];
      if (column.nominal()) {
        std::get<Buffer<std::int32_t>>(column.data)[at] = static_cast<std::int32_t>(row.values[c]);
      } else {
        std::get<Buffer<double>>(column.data)[at] = generate::rounded(row.values[c]);
      }
    }
  }

  GenerateOptions options_;
  std::unique_ptr<generate::Kind> kind_;
};

TableGenerator::TableGenerator(const GenerateOptions& options, const RunOptions& run) try
    : impl_(std::make_unique<Impl>(options, run)) {
} catch (...) {
  rethrow_as_error();
}
TableGenerator::~TableGenerator() = default;
TableGenerator::TableGenerator(TableGenerator&&) noexcept = default;

Table TableGenerator::rows(std::int64_t first, std::int64_t n, const RunOptions& run) const try {
  return impl_->rows(first, n, run);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
