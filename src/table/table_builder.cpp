// TableBuilder: rows in blocks of memory that become the columns of a table (stope/table_builder.hpp).
#include "stope/table_builder.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "device/gpu_array.hpp"
#include "stope/error.hpp"
#include "table/array_columns.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

// The first block has room for the rows of its first call, or for as many as make this number of bytes, but few rows:
// small tables are the rule. Every further block doubles the room, up to a size whose copy hides the allocation.
constexpr std::int64_t kFirstBytes = std::int64_t{1} << 20, kFirstRows = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
// Rows of a block are a multiple of this, so that every column of 4-byte codes ends where a column of doubles may
// begin.
constexpr std::int64_t kRowMultiple = 16;

constexpr std::int64_t value_bytes(const ColumnSpec& column) {
  return is_nominal(column.type) ? sizeof(std::int32_t) : sizeof(double);
}

// Rows [0, used) of all columns; the columns lie one behind the other, `capacity` values each.
struct Block {
  std::shared_ptr<void> memory;
  Storage storage = Storage::memory;
  std::int64_t capacity = 0, used = 0;
  std::vector<ColumnTarget> columns;
};

}  // namespace

class TableBuilder::Impl {
 public:
  Impl(Schema schema, std::int64_t n_rows_expected, const RunOptions& run)
      : schema_(std::move(schema)), expected_(n_rows_expected), run_(run), budget_(memory_budget(run)) {
    if (n_rows_expected < 0) {
      Place place;
      place.option = "n_rows_expected";
      throw Error(ErrorCode::invalid_argument, std::to_string(n_rows_expected) + " rows cannot be expected", place);
    }
    require_memory(checked::mul(n_columns(), kColumnBytes), budget_, "");
    made_of({}).validate();  // names that repeat
    for (const ColumnSpec& column : schema_.columns) row_bytes_ += value_bytes(column);
    origin_.name = [this](std::int64_t column) { return schema_.columns[static_cast<std::size_t>(column)].name; };
  }
  Impl(const Impl&) = delete;  // origin_ refers to it
  Impl& operator=(const Impl&) = delete;

  std::int64_t n_rows() const { return n_rows_; }

  void append(const ArrayView& rows) {
    ArrayView array = checked_array(rows, "the rows");
    if (array.n_columns != n_columns()) {
      throw Error(ErrorCode::invalid_argument,
                  "the rows have " + std::to_string(array.n_columns) + " columns, not " + std::to_string(n_columns()));
    }
    if (array.gpu >= 0) {
      device::check_gpu_array(array, "the rows", run_);
      array = device::copy_to_host(array, "the rows", run_);
    }
    const std::int64_t n_rows = checked::add(n_rows_, array.n_rows);
    const std::size_t blocks_before = blocks_.size();
    const std::int64_t used_before = blocks_.empty() ? 0 : blocks_.back().used;
    try {
      put(array);
    } catch (...) {
      blocks_.resize(blocks_before);
      if (!blocks_.empty()) blocks_.back().used = used_before;
      throw;
    }
    n_rows_ = n_rows;
  }

  Table finish() {
    if (blocks_.size() > 1) join();
    Table table = made_of(blocks_.empty() ? Block() : blocks_.front());
    blocks_.clear();
    n_rows_ = 0;
    return table;
  }

 private:
  std::int64_t n_columns() const { return static_cast<std::int64_t>(schema_.columns.size()); }

  // Fills what room the last block has, then one further block.
  void put(ArrayView array) {
    origin_.first_row = n_rows_;
    while (array.n_rows > 0) {
      if (blocks_.empty() || blocks_.back().used == blocks_.back().capacity) {
        blocks_.push_back(next_block(array.n_rows));
      }
      Block& block = blocks_.back();
      ArrayView part = array;
      part.n_rows = std::min(array.n_rows, block.capacity - block.used);
      move_columns(part, block.columns, block.used, origin_, run_);
      block.used += part.n_rows;
      origin_.first_row += part.n_rows;
      array.n_rows -= part.n_rows;
      if (array.n_rows == 0 || array.n_columns == 0) continue;  // there are no values further on
      array.data = static_cast<const char*>(array.data) + part.n_rows * array.row_stride * size_of(array.type);
    }
  }

  Block next_block(std::int64_t n_more) const {
    const std::int64_t row_bytes = std::max<std::int64_t>(row_bytes_, 1);
    std::int64_t rows = std::min(n_rows_, kMostBytes / row_bytes);
    if (blocks_.empty()) rows = expected_ > 0 ? expected_ : std::min(kFirstRows, kFirstBytes / row_bytes);
    std::int64_t in_memory = 0;
    for (const Block& block : blocks_) in_memory += block.storage == Storage::memory ? bytes_of(block) : 0;
    return block_of(std::max(rows, n_more), in_memory);
  }

  std::int64_t bytes_of(const Block& block) const { return row_bytes_ * block.capacity; }

  // `in_memory`: bytes that count against the limit already.
  Block block_of(std::int64_t n_rows, std::int64_t in_memory) const {
    Block block;
    block.capacity = checked::mul(checked::ceil_div(n_rows, kRowMultiple), kRowMultiple);
    const std::int64_t bytes = checked::mul(row_bytes_, block.capacity);
    block.storage = storage_within(checked::add(in_memory, bytes), budget_);
    block.memory = allocate_shared_bytes(bytes, block.storage);
    auto* first = static_cast<char*>(block.memory.get());
    block.columns.reserve(schema_.columns.size());
    for (const ColumnSpec& column : schema_.columns) {
      if (is_nominal(column.type)) {
        block.columns.push_back(
            {reinterpret_cast<std::int32_t*>(first), static_cast<std::int64_t>(column.values.size())});
      } else {
        block.columns.push_back({reinterpret_cast<double*>(first)});
      }
      first += block.capacity * value_bytes(column);
    }
    return block;
  }

  // Makes one block of all. Half of the limit is for the blocks, the other half for this copy.
  void join() {
    Block whole = block_of(n_rows_, 0);
    for (const Block& block : blocks_) {
      for (std::size_t c = 0; c < block.columns.size(); ++c) {
        std::visit(
            [&](const auto* from) {
              using Value = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
              std::copy_n(from, block.used, std::get<Value*>(whole.columns[c].values) + whole.used);
            },
            block.columns[c].values);
      }
      whole.used += block.used;
      run_.cancel.check();
    }
    blocks_.clear();
    blocks_.push_back(std::move(whole));
  }

  // The table whose columns share the block's memory.
  Table made_of(const Block& block) const {
    Table table;
    table.n_rows = block.used;
    for (std::size_t c = 0; c < schema_.columns.size(); ++c) {
      const ColumnSpec& spec = schema_.columns[c];
      Column column{spec.name, spec.type, spec.role, {}, spec.values};
      if (column.nominal()) column.data = Buffer<std::int32_t>();
      if (!block.columns.empty()) {
        std::visit(
            [&](auto* first) {
              using Value = std::remove_pointer_t<decltype(first)>;
              column.data = Buffer<Value>::borrow(first, block.used, block.memory, block.storage);
            },
            block.columns[c].values);
      }
      table.columns.push_back(std::move(column));
    }
    return table;
  }

  Schema schema_;
  std::int64_t expected_;
  RunOptions run_;
  std::int64_t budget_, row_bytes_ = 0;
  std::int64_t n_rows_ = 0;
  ArrayOrigin origin_;
  std::vector<Block> blocks_;
};

TableBuilder::TableBuilder(Schema columns, std::int64_t n_rows_expected, const RunOptions& run) try
    : impl_(std::make_unique<Impl>(std::move(columns), n_rows_expected, run)) {
} catch (...) {
  rethrow_as_error();
}
TableBuilder::~TableBuilder() = default;
TableBuilder::TableBuilder(TableBuilder&&) noexcept = default;
TableBuilder& TableBuilder::operator=(TableBuilder&&) noexcept = default;

void TableBuilder::append(const ArrayView& rows) try { impl_->append(rows); } catch (...) {
  rethrow_as_error();
}
std::int64_t TableBuilder::n_rows() const noexcept {
  return impl_->n_rows();
}
Table TableBuilder::finish() try { return impl_->finish(); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
