#include "knn/search/queries.hpp"

#include <string>
#include <utility>

#include "base/array.hpp"
#include "device/gpu_array.hpp"
#include "knn/gpu/caller_rows.hpp"
#include "stope/error.hpp"
#include "table/array_rows.hpp"
#include "table/check_table.hpp"
#include "table/encode.hpp"

namespace stope::knn {
namespace {

class TableQueries final : public QuerySource {
 public:
  TableQueries(const Fitted& fitted, const Table& table)
      : n_rows_(table.n_rows), columns_(match_columns(fitted.features(), table, fitted.options().compat)) {}
  std::int64_t n_rows() const override { return n_rows_; }
  void encode(std::int64_t begin, std::int64_t end, double* out) const override {
    encode_rows(columns_, begin, end, out);
  }

 private:
  std::int64_t n_rows_;
  std::vector<MatchedColumn> columns_;
};

class ArrayQueries final : public QuerySource {
 public:
  ArrayQueries(const ArrayView& array, std::vector<std::int64_t> columns)
      : array_(array),
        columns_(std::move(columns)),
        in_place_(is_encoded(array) && static_cast<std::int64_t>(columns_.size()) == array.n_columns) {}
  std::int64_t n_rows() const override { return array_.n_rows; }
  void encode(std::int64_t begin, std::int64_t end, double* out) const override {
    encode_rows(array_, columns_, begin, end, out);
  }
  const double* encoded() const override { return in_place_ ? static_cast<const double*>(array_.data) : nullptr; }

 private:
  ArrayView array_;
  std::vector<std::int64_t> columns_;
  bool in_place_;
};

class TrainingQueries final : public QuerySource {
 public:
  explicit TrainingQueries(const Fitted& fitted) : fitted_(fitted) {}
  std::int64_t n_rows() const override { return fitted_.n_rows(); }
  void encode(std::int64_t begin, std::int64_t end, double* out) const override { fitted_.encode(begin, end, out); }
  const double* encoded() const override { return fitted_.resident() ? fitted_.rows() : nullptr; }

 private:
  const Fitted& fitted_;
};

}  // namespace

std::vector<std::int64_t> compared_columns(const Fitted& fitted, const ArrayView& array) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::invalid_argument, text); };
  const std::vector<std::int64_t> features = fitted.outline().features();
  if (static_cast<std::int64_t>(features.size()) != array.n_columns) {
    refuse("the query rows have " + std::to_string(array.n_columns) + " columns, the training table has " +
           std::to_string(features.size()) + " features");
  }
  std::vector<std::int64_t> columns;
  std::size_t next = 0;  // the next compared feature: those of weight 0 are not compared
  for (std::size_t c = 0; c < features.size() && next < fitted.features().size(); ++c) {
    const Column& column = fitted.outline().columns[static_cast<std::size_t>(features[c])];
    if (column.name != fitted.features()[next].name) continue;
    if (column.nominal()) refuse("the feature '" + column.name + "' is nominal; an array's columns are numeric");
    columns.push_back(static_cast<std::int64_t>(c));
    ++next;
  }
  return columns;
}

namespace {
constexpr const char* kWhat = "the query rows";
}  // namespace

std::int64_t checked_rows(const Fitted& fitted, const QueryRows& rows) {
  if (rows.array() != nullptr) return checked_array(*rows.array(), kWhat).n_rows;
  if (rows.table() == nullptr) return fitted.n_rows();
  check_shape(*rows.table());
  return rows.table()->n_rows;
}

std::unique_ptr<QuerySource> make_query_source(const Fitted& fitted, const QueryRows& rows, const RunOptions& run) {
  if (rows.table() != nullptr) return std::make_unique<TableQueries>(fitted, *rows.table());
  if (rows.array() == nullptr) return std::make_unique<TrainingQueries>(fitted);
  const ArrayView array = checked_array(*rows.array(), kWhat);
  if (array.gpu >= 0) device::check_gpu_array(array, kWhat, run);
  std::vector<std::int64_t> columns = compared_columns(fitted, array);
  if (array.gpu < 0) return std::make_unique<ArrayQueries>(array, std::move(columns));
  // A GPU reads rows, and pieces of rows are copied to the host. Anything else is copied as a whole.
  const bool is_rows = (array.column_stride == 1 || array.n_columns == 1) && array.row_stride >= array.n_columns;
  if (is_rows) return std::make_unique<GpuRows>(array, std::move(columns));
  return std::make_unique<ArrayQueries>(device::copy_to_host(array, kWhat, run), std::move(columns));
}

}  // namespace stope::knn
