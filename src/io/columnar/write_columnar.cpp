#include "io/columnar/write_columnar.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/escape.hpp"
#include "base/progress.hpp"
#include "io/arrow/owned.hpp"
#include "io/files_plugin.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

using arrow::Owned;

// Rows of a row group: each reader's thread takes one, and a dictionary is written once for each.
constexpr std::int64_t kGroupRows = std::int64_t{1} << 20;
// The writer holds a row group once it is encoded. Wide tables have shorter ones.
constexpr std::int64_t kGroupBytes = std::int64_t{256} << 20;
constexpr std::int64_t kLeastGroupRows = 4096;
// Rows that the writer takes at a time, between two looks at the cancel token.
constexpr std::int64_t kBatchRows = std::int64_t{1} << 16;
// The writer copies a batch of Arrow before it writes it.
constexpr std::int64_t kBatchShare = 4;

std::int64_t group_rows(const Table& table) {
  const std::int64_t row_bytes = std::max<std::int64_t>(std::ssize(table.columns) * 8, 1);
  return std::clamp(kGroupBytes / row_bytes, kLeastGroupRows, kGroupRows);
}

bool is_stream_path(std::string_view path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  return path == "-" || path.ends_with(".arrows") || path.starts_with("/dev/") || path.starts_with("/proc/self/fd/");
}

std::string json_list(const Values& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    text += json_text(values[i]);
  }
  return text + "]";
}

enum class Whole { yes, no };

// Whether the codes of a whole column come first in the order 0, 1, 2, ..., and all of them come.
struct Coming {
  bool all = false, in_order = false;
};
Coming coming(const Column& column, const CancelToken& cancel) {
  const Buffer<std::int32_t>& codes = column.codes();
  std::vector<char> seen(column.values.size(), 0);
  std::int64_t n_seen = 0;
  bool in_order = true;
  for (std::int64_t row = 0; row < codes.size() && n_seen < std::ssize(seen); ++row) {
    if (row % kBatchRows == 0) cancel.check();
    if (codes[row] < 0 || seen[static_cast<std::size_t>(codes[row])] != 0) continue;
    seen[static_cast<std::size_t>(codes[row])] = 1;
    in_order = in_order && codes[row] == n_seen;
    ++n_seen;
  }
  return {n_seen == std::ssize(seen), in_order};
}

// What Parquet would lose of a column's value list, as an entry of its metadata.
std::optional<std::pair<std::string, std::string>> values_entry(const Column& column, Whole whole,
                                                                const CancelToken& cancel) {
  if (!column.nominal()) return std::nullopt;
  const Coming values = whole == Whole::yes ? coming(column, cancel) : Coming{};
  if (values.all && values.in_order) return std::nullopt;
  const std::vector<std::string> names = column.values.names();
  if (values.all && std::is_sorted(names.begin(), names.end()))
    return std::pair{std::string(arrow::kOrderKey), std::string("sorted")};
  return std::pair{std::string(arrow::kValuesKey), json_list(column.values)};
}

// The writer of the plug-in. What the sink throws waits in `failure`, since nothing may pass through the plug-in.
class Writer {
 public:
  Writer(const StopeFilesFunctions& plugin, std::string path, ByteSink sink)
      : plugin_(plugin), path_(std::move(path)), sink_(std::move(sink)) {}
  ~Writer() {
    if (writer_ != nullptr) plugin_.drop(writer_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void create(StopeFilesFormat format, ArrowSchema* schema, const Table& table) {
    const StopeFilesWriteOptions options{group_rows(table)};
    StopeFilesFailure failure{};
    check(plugin_.create(format, schema, &options, {this, &Writer::write}, &writer_, &failure), failure);
  }
  void append(ArrowArray* batch) {
    StopeFilesFailure failure{};
    check(plugin_.append(writer_, batch, &failure), failure);
  }
  void finish() {
    StopeFilesFailure failure{};
    check(plugin_.finish(writer_, &failure), failure);
  }
  const std::string& path() const { return path_; }

 private:
  static std::int32_t write(void* context, const std::uint8_t* data, std::uint64_t size) noexcept {
    auto* const writer = static_cast<Writer*>(context);
    if (writer->failure_ != nullptr) return 1;
    try {
      writer->sink_({reinterpret_cast<const char*>(data), size});
      return 0;
    } catch (...) {
      writer->failure_ = std::current_exception();
      return 1;
    }
  }
  void check(std::int32_t code, const StopeFilesFailure& failure) const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    if (code != kStopeFilesOk) throw_files_failure(failure, path_);
  }

  const StopeFilesFunctions& plugin_;
  std::string path_;
  ByteSink sink_;
  std::exception_ptr failure_;
  StopeFilesWriter* writer_ = nullptr;
};

// The callbacks of export_arrow's streams fail only when memory does.
void check_export(int code) {
  if (code != 0) throw Error(ErrorCode::out_of_memory, "the columns cannot be given to the plug-in for files");
}

Owned<ArrowSchema> schema_of(Owned<ArrowArrayStream>& stream) {
  ArrowSchema given{};
  check_export(stream->get_schema(stream.get(), &given));
  return Owned<ArrowSchema>(&given);
}

Owned<ArrowArray> next_of(Owned<ArrowArrayStream>& stream) {
  ArrowArray given{};
  check_export(stream->get_next(stream.get(), &given));
  return Owned<ArrowArray>(&given);
}

StopeFilesFormat kind_of(Format format, std::string_view path) {
  if (format == Format::parquet) return kStopeFilesParquet;
  return is_stream_path(path) ? kStopeFilesArrowStream : kStopeFilesArrow;
}

// Creates the file with the schema of a table, and for Parquet with what it would lose of value lists.
void begin(Writer& writer, StopeFilesFormat kind, Owned<ArrowSchema>& schema, const Table& table, Whole whole,
           const CancelToken& cancel) {
  std::vector<std::string> texts;  // outlive the call, which copies them
  texts.reserve(table.columns.size());
  for (std::size_t c = 0; kind == kStopeFilesParquet && c < table.columns.size(); ++c) {
    const auto entry = values_entry(table.columns[c], whole, cancel);
    if (!entry.has_value()) continue;
    ArrowSchema& child = *schema->children[c];
    texts.push_back(arrow::with_entry(child.metadata, entry->first, entry->second));
    child.metadata = texts.back().data();
  }
  writer.create(kind, schema.get(), table);
}

const StopeFilesFunctions& plugin_for(Format format, const std::string& path) {
  return files_functions(format == Format::parquet ? "a Parquet file" : "an Arrow file (Feather)", path,
                         FilesUse::write);
}

std::int64_t batch_rows(StopeFilesFormat kind, const Table& table, const RunOptions& run) {
  if (kind == kStopeFilesParquet || kind == kStopeFilesArrowStream) return kBatchRows;
  return table.bytes() <= memory_budget(run) / kBatchShare ? 0 : kGroupRows;
}

void append_all(Writer& writer, Owned<ArrowArrayStream>& stream, std::int64_t n_rows, const RunOptions& run) {
  std::int64_t written = 0;
  for (;;) {
    run.cancel.check();
    Owned<ArrowArray> batch = next_of(stream);
    if (!batch) return;
    written += batch->length;
    writer.append(batch.get());
    tell_progress(run, "write", written, n_rows);
  }
}

}  // namespace

void write_columnar(Format format, const Table& table, const std::string& path, const ByteSink& sink,
                    const RunOptions& run) {
  const StopeFilesFormat kind = kind_of(format, path);
  Writer writer(plugin_for(format, path), path, sink);
  Owned<ArrowArrayStream> stream;
  export_arrow(table, stream.get(), batch_rows(kind, table, run), run);
  Owned<ArrowSchema> schema = schema_of(stream);
  begin(writer, kind, schema, table, Whole::yes, run.cancel);
  append_all(writer, stream, table.n_rows, run);
  writer.finish();
}

struct ColumnarParts::State {
  Writer writer;
  std::vector<std::string> formats;  // Arrow's, of the columns
};

ColumnarParts::ColumnarParts(Format format, const Table& first, const std::string& path, ByteSink sink,
                             const RunOptions& run)
    : state_(new State{Writer(plugin_for(format, path), path, std::move(sink)), {}}) {
  Owned<ArrowArrayStream> stream;
  export_arrow(first, stream.get(), kBatchRows, run);
  Owned<ArrowSchema> schema = schema_of(stream);
  state_->formats.reserve(first.columns.size());
  for (std::int64_t c = 0; c < schema->n_children; ++c) state_->formats.emplace_back(schema->children[c]->format);
  begin(state_->writer, kind_of(format, path), schema, first, Whole::no, run.cancel);
}

ColumnarParts::~ColumnarParts() = default;

void ColumnarParts::append(const Table& part, const RunOptions& run) {
  Owned<ArrowArrayStream> stream;
  export_arrow(part, stream.get(), kBatchRows, run);
  const Owned<ArrowSchema> schema = schema_of(stream);
  for (std::int64_t c = 0; c < schema->n_children; ++c) {
    if (state_->formats[static_cast<std::size_t>(c)] == schema->children[c]->format) continue;
    const std::string name = schema->children[c]->name;
    throw Error(ErrorCode::unsupported,
                "column '" + name +
                    "': its dates are in days in one part of the table and finer in another; such a "
                    "table has to be written as a whole",
                {.file = state_->writer.path(), .feature = name});
  }
  append_all(state_->writer, stream, part.n_rows, silent(run));
}

void ColumnarParts::finish() {
  state_->writer.finish();
}

}  // namespace stope::io
