// import_arrow: batches of another program become one table (stope/arrow.hpp).
#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <utility>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "io/arrow/chunk.hpp"
#include "io/arrow/names.hpp"
#include "io/arrow/numbers.hpp"
#include "io/arrow/owned.hpp"
#include "io/roles.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::io::arrow {
namespace {

using Batch = std::shared_ptr<Owned<ArrowArray>>;

// Rows of numbers that a task copies: a few milliseconds, so that cancelling is quick and handing out costs nothing.
constexpr std::int64_t kTaskRows = std::int64_t{1} << 20;
// Values for which another thread pays: about a millisecond of copying, where a thread costs up to 150 us. A string is
// hashed, which takes as long as copying eight numbers.
constexpr std::int64_t kThreadValues = std::int64_t{1} << 19;
constexpr std::int64_t kStringWork = 8;

int threads_for(std::int64_t work, const RunOptions& run) {
  const std::int64_t most = run.threads > 0 ? run.threads : available_threads();
  return static_cast<int>(std::clamp<std::int64_t>(work / kThreadValues, 1, most));
}

// The batches as columns of a table: first those that share memory, then all others, copied.
class Import {
 public:
  Import(const std::vector<Field>& fields, const std::vector<Batch>& batches, const ArrowOptions& options,
         const RunOptions& run)
      : fields_(fields),
        options_(options),
        run_(run),
        chunks_(fields.size()),
        meter_(memory_budget(run), options.source) {
    take_chunks(batches);
    table_.source = options.source;
    for (const Field& field : fields) table_.columns.push_back({field.name, field.value_type, field.role, {}, {}});
    shared_.resize(fields.size());
  }

  Table table() {
    share();
    allocate();
    copy();
    for (Column& column : table_.columns) {
      // More values than two contradict what metadata said, and binominal measures know only two.
      if (column.type == ValueType::binominal && column.values.size() > 2) column.type = ValueType::polynominal;
    }
    return std::move(table_);
  }

 private:
  struct Task {
    std::size_t column;
    Rows rows;  // of numbers; a nominal column is one task
  };

  void take_chunks(const std::vector<Batch>& batches) {
    for (const Batch& batch : batches) {
      const std::vector<Chunk> columns = chunks_of(**batch, fields_, options_.source);
      const std::int64_t length = (*batch)->length;
      table_.n_rows = checked::add(table_.n_rows, length);
      // Empty batches count only where nothing else tells a dictionary's values.
      if (length > 0 && owner_ == nullptr) {
        for (std::vector<Chunk>& chunks : chunks_) chunks.clear();
      }
      if (length > 0) owner_ = batch;
      if (length == 0 && owner_ != nullptr) continue;
      for (std::size_t c = 0; c < columns.size(); ++c) chunks_[c].push_back(columns[c]);
    }
  }

  template <class T>
  bool share_numbers(std::size_t c) {
    const Chunk& chunk = chunks_[c].front();
    const char* const at = chunk.buffer(1) + chunk.begin * std::int64_t{sizeof(T)};
    if (chunk.validity != nullptr || reinterpret_cast<std::uintptr_t>(at) % alignof(T) != 0) return false;
    borrow(c, reinterpret_cast<const T*>(at));
    return true;
  }

  // Buffers are never written once they are filled, so that the memory of the other side stays as it is.
  template <class T>
  void borrow(std::size_t c, const T* values) {
    table_.columns[c].data = Buffer<T>::borrow(const_cast<T*>(values), table_.n_rows, owner_);
    shared_[c] = 1;
  }

  void share() {
    if (options_.memory == ArrowMemory::copied || table_.n_rows == 0) return;
    std::vector<std::size_t> dictionaries;
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      if (chunks_[c].size() != 1) return;  // several batches
      if (fields_[c].codes.has_value()) dictionaries.push_back(c);
      if (fields_[c].type.kind == Kind::float64) share_numbers<double>(c);
      if (fields_[c].type.kind == Kind::float32) share_numbers<float>(c);
    }
    const auto n_tasks = static_cast<std::int64_t>(dictionaries.size());
    ThreadPool pool(threads_for(checked::mul(n_tasks, table_.n_rows), run_));
    pool.parallel_for(n_tasks, run_.cancel, [&](std::int64_t task, int) {
      const std::size_t c = dictionaries[static_cast<std::size_t>(task)];
      SharedCodes shared = shared_codes(fields_[c], chunks_[c].front(), meter_);
      if (shared.codes == nullptr) return;
      borrow(c, shared.codes);
      table_.columns[c].values = std::move(shared.values);
    });
  }

  void allocate() {
    std::int64_t row_bytes = 0;
    std::int64_t n_columns = 0;
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      if (shared_[c] != 0) continue;
      row_bytes += fields_[c].nominal() || is_narrow(fields_[c].type.kind) ? 4 : 8;
      ++n_columns;
    }
    const Storage storage = storage_within(checked::mul(row_bytes, table_.n_rows), memory_budget(run_));
    ColumnMemory memory(storage, table_.n_rows, n_columns, row_bytes);
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      if (shared_[c] != 0) continue;
      Column& column = table_.columns[c];
      if (fields_[c].nominal()) {
        column.data = memory.take<std::int32_t>();
      } else if (is_narrow(fields_[c].type.kind)) {
        column.data = memory.take<float>();
      } else {
        column.data = memory.take<double>();
      }
    }
  }

  void copy() {
    std::vector<Task> tasks;
    std::int64_t work = 0;
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      if (shared_[c] != 0) continue;
      work = checked::add(work, checked::mul(table_.n_rows, fields_[c].nominal() ? kStringWork : 1));
      if (fields_[c].nominal()) {
        tasks.push_back({c, {}});
        continue;
      }
      std::int64_t row0 = 0;
      for (const Chunk& chunk : chunks_[c]) {
        for (std::int64_t first = 0; first < chunk.length; first += kTaskRows) {
          tasks.push_back({c, {&chunk, row0, first, std::min(chunk.length, first + kTaskRows)}});
        }
        row0 += chunk.length;
      }
    }
    const PhaseProgress phase(run_, "copy", 0);
    ThreadPool pool(threads_for(work, run_));
    pool.parallel_for(static_cast<std::int64_t>(tasks.size()), run_.cancel, [&](std::int64_t number, int) {
      const Task& task = tasks[static_cast<std::size_t>(number)];
      const Field& field = fields_[task.column];
      Column& column = table_.columns[task.column];
      if (field.nominal()) {
        read_names(field, chunks_[task.column], options_.nominal_order, meter_, run_.cancel, column);
      } else {
        copy_numbers(field, task.rows, column);
      }
    });
  }

  const std::vector<Field>& fields_;
  const ArrowOptions& options_;
  const RunOptions& run_;
  std::vector<std::vector<Chunk>> chunks_;  // of each column
  std::vector<char> shared_;                // of each column: whether it needs no copy
  Batch owner_;                             // the last batch that has rows
  csv::MemoryMeter meter_;
  Table table_;
};

void apply_options(Table& table, const ArrowOptions& options, const RunOptions& run) {
  ReadOptions read;
  read.target = options.target;
  read.id = options.id;
  read.sample_weight = options.sample_weight;
  read.target_is_nominal = options.target_is_nominal;
  read.select = options.select;
  read.ignore = options.ignore;
  read.nominal = options.nominal;
  if (options.target.empty() && options.target_is_nominal) {
    for (const Column& column : table.columns) {  // labels by the schema's metadata
      if (column.role == Role::label) read.nominal.push_back(column.name);
    }
  }
  read.numeric = options.numeric;
  read.nominal_order = options.nominal_order;
  read.unknown_columns = options.unknown_columns;
  apply_roles(table, read, nullptr, Names::given, run, 0);
}

Table table_of_batches(const Owned<ArrowSchema>& schema, const std::vector<Batch>& batches, const ArrowOptions& options,
                       const RunOptions& run) {
  const std::vector<Field> fields = fields_of(*schema, options.source);
  Table table = Import(fields, batches, options, run).table();
  apply_options(table, options, run);
  return table;
}

[[noreturn]] void refuse_argument(const char* what) {
  throw Error(ErrorCode::invalid_argument, std::string("import_arrow: ") + what);
}

// A producer that fails says why in its own words.
void check_producer(int code, Owned<ArrowArrayStream>& stream, const ArrowOptions& options) {
  if (code == 0) return;
  const char* const said = stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream.get());
  throw Error(code == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::io,
              "the producer of an Arrow stream fails with code " + std::to_string(code) + ": " +
                  (said == nullptr ? "it does not say why" : said),
              {.file = options.source});
}

Table import_batch(Owned<ArrowSchema> schema, Owned<ArrowArray> batch, const ArrowOptions& options,
                   const RunOptions& run) {
  if (!schema) refuse_argument("the schema is a null pointer or has been released");
  if (!batch) refuse_argument("the batch is a null pointer or has been released");
  std::vector<Batch> batches;
  batches.push_back(std::make_shared<Owned<ArrowArray>>(std::move(batch)));
  return table_of_batches(schema, batches, options, run);
}

std::string device_name(std::int32_t type) {
  switch (type) {
    case 2: return "a CUDA GPU";
    case 3: return "the host, pinned by CUDA";
    case 4: return "an OpenCL device";
    case 7: return "a Vulkan device";
    case 8: return "a Metal GPU";
    case 10: return "a ROCm GPU";
    case 11: return "the host, pinned by ROCm";
    case 13: return "CUDA, managed";
    case 14: return "a oneAPI device";
    default: return "a device of type " + std::to_string(type);
  }
}

}  // namespace
}  // namespace stope::io::arrow

namespace stope {

using io::arrow::Owned;

Table import_arrow(ArrowArrayStream* stream, const ArrowOptions& options, const RunOptions& run) try {
  using namespace io::arrow;
  Owned<ArrowArrayStream> owned(stream);
  if (!owned) refuse_argument("the stream is a null pointer or has been released");
  if (owned->get_schema == nullptr || owned->get_next == nullptr) refuse_argument("the stream lacks a callback");
  // Nothing says what a failing callback leaves behind: only what a successful one gives is released.
  ArrowSchema given{};
  check_producer(owned->get_schema(owned.get(), &given), owned, options);
  const Owned<ArrowSchema> schema(&given);
  if (!schema) refuse_argument("the stream gives a schema that has been released");
  const RunningJob running(run);
  std::vector<Batch> batches;
  std::int64_t n_rows = 0;
  for (;;) {
    run.cancel.check();
    ArrowArray next{};
    check_producer(owned->get_next(owned.get(), &next), owned, options);
    Owned<ArrowArray> batch(&next);
    if (!batch) break;
    n_rows = checked::add(n_rows, std::max<std::int64_t>(batch->length, 0));
    batches.push_back(std::make_shared<Owned<ArrowArray>>(std::move(batch)));
    tell_progress(run, "read", n_rows, 0);
  }
  return table_of_batches(schema, batches, options, run);
} catch (...) {
  rethrow_as_error();
}

Table import_arrow(ArrowSchema* schema, ArrowArray* batch, const ArrowOptions& options, const RunOptions& run) try {
  Owned<ArrowSchema> owned_schema(schema);
  Owned<ArrowArray> owned_batch(batch);
  return io::arrow::import_batch(std::move(owned_schema), std::move(owned_batch), options, run);
} catch (...) {
  rethrow_as_error();
}

Table import_arrow(ArrowSchema* schema, ArrowDeviceArray* batch, const ArrowOptions& options,
                   const RunOptions& run) try {
  Owned<ArrowSchema> owned_schema(schema);
  Owned<ArrowArray> owned_batch(batch == nullptr ? nullptr : &batch->array);
  if (batch != nullptr && batch->device_type != ARROW_DEVICE_CPU) {
    throw Error(ErrorCode::unsupported, "import_arrow reads the memory of the CPU, and this batch lies in that of " +
                                            io::arrow::device_name(batch->device_type) + " (number " +
                                            std::to_string(batch->device_id) + "): copy it to the CPU first");
  }
  return io::arrow::import_batch(std::move(owned_schema), std::move(owned_batch), options, run);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
