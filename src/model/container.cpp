#include "model/container.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "model/checksum.hpp"
#include "stope/error.hpp"
#include "table/array_columns.hpp"
#include "table/column_memory.hpp"

namespace stope::model {
namespace {

// What an option and a table take in memory at most besides their texts: their entries, in lists that may just have
// grown, and their names in the set that finds a name used twice.
constexpr std::int64_t kOptionBytes = 400;
constexpr std::int64_t kTableBytes = 600;
constexpr std::uint64_t kPollEntries = 4096;

// Values start at multiples of this, so that a mapped file is used where it lies.
constexpr std::int64_t kAlignment = 8;
constexpr std::int64_t kSumBytes = sizeof(std::uint64_t);
constexpr std::int64_t kSizeEnd = 8 + 4 + 4 + 8;  // magic, version, zero, size of the file

enum class Stored : std::uint8_t { float64, float32, code };  // as in Column::data

std::int64_t width_of(Stored stored) {
  return stored == Stored::float64 ? 8 : 4;
}

// Writes everything but the size of the file and the checksum, to a sink that counts or writes.
class Writer {
 public:
  explicit Writer(const std::function<void(std::string_view)>& sink) : sink_(sink) {}

  void put(std::string_view bytes) {
    sink_(bytes);
    position_ += static_cast<std::int64_t>(bytes.size());
  }
  template <class T>
  void number(T value) {
    put({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void text(std::string_view value) {
    if (value.size() > UINT32_MAX) throw Error(ErrorCode::unsupported, "a name of 4 GiB or more cannot be saved");
    number(static_cast<std::uint32_t>(value.size()));
    put(value);
  }
  void content(const Content& content, std::int64_t file_size) {
    put(kMagic);
    number(kVersion);
    number(std::uint32_t{0});
    number(file_size);
    text(content.kind);
    number(static_cast<std::uint64_t>(content.options.size()));
    for (const auto& [name, value] : content.options) {
      text(name);
      text(value);
    }
    number(static_cast<std::uint64_t>(content.tables.size()));
    for (const NamedTable& named : content.tables) table(named);
  }
  std::int64_t position() const { return position_; }

 private:
  void table(const NamedTable& named) {
    text(named.name);
    number(named.table.n_rows);
    number(static_cast<std::uint64_t>(named.table.columns.size()));
    for (const Column& each : named.table.columns) column(each);
  }
  void column(const Column& column) {
    text(column.name);
    number(static_cast<std::uint8_t>(column.type));
    number(static_cast<std::uint8_t>(column.role));
    number(static_cast<std::uint8_t>(column.data.index()));
    number(static_cast<std::uint64_t>(column.values.size()));
    for (const std::string& value : column.values) text(value);
    constexpr char kZeros[kAlignment] = {};
    put({kZeros, static_cast<std::size_t>((kAlignment - position_ % kAlignment) % kAlignment)});
    std::visit(
        [this](const auto& data) {
          const auto size = static_cast<std::size_t>(data.size()) * sizeof *data.data();
          put({reinterpret_cast<const char*>(data.data()), size});
        },
        column.data);
  }

  const std::function<void(std::string_view)>& sink_;
  std::int64_t position_ = 0;
};

class Reader {
 public:
  // With an `owner` the columns share the bytes.
  Reader(const io::Bytes& bytes, std::string_view body, const RunOptions& run, std::shared_ptr<const void> owner)
      : bytes_(body, bytes.name),
        name_(bytes.name),
        owner_(std::const_pointer_cast<void>(std::move(owner))),
        shared_storage_(bytes.held > 0 ? Storage::memory : Storage::file),
        budget_(memory_budget(run)),
        cancel_(run.cancel) {}

  Content content() {
    Content content;
    content.source = name_;
    bytes_.take(kSizeEnd, "the header");
    content.kind = text("the kind of the model");
    std::unordered_set<std::string> names;
    for (std::uint64_t left = count("options", 8); left > 0; --left) {
      if (left % kPollEntries == 0) poll_step(cancel_);
      std::string name = text("the name of an option");
      if (!names.insert(name).second) fail("two options are called '" + name + "'");
      std::string value = text("an option");
      describe(kOptionBytes + static_cast<std::int64_t>(2 * name.size() + value.size()));
      content.options.emplace_back(std::move(name), std::move(value));
    }
    names.clear();
    for (std::uint64_t left = count("tables", 20); left > 0; --left) {
      if (left % kPollEntries == 0) poll_step(cancel_);
      std::string name = text("the name of a table");
      if (!names.insert(name).second) fail("two tables are called '" + name + "'");
      describe(kTableBytes + static_cast<std::int64_t>(2 * name.size() + name_.size()));
      Table read = table();
      content.tables.push_back({std::move(name), std::move(read)});
    }
    if (bytes_.remaining() != 0) fail(std::to_string(bytes_.remaining()) + " bytes behind the last table");
    return content;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::invalid_data, what, {name_}); }

  // Reads a number of things that take at least `least` bytes each. More than the rest of the file has room for is a
  // lie.
  std::uint64_t count(std::string_view what, std::int64_t least) {
    const auto n = bytes_.read<std::uint64_t>(what);
    if (n > static_cast<std::uint64_t>(bytes_.remaining() / least)) {
      fail(std::to_string(n) + " " + std::string(what) + " do not fit into the " + std::to_string(bytes_.remaining()) +
           " bytes that are left");
    }
    return n;
  }

  std::string text(std::string_view what) {
    const auto length = bytes_.read<std::uint32_t>(what);
    return std::string(bytes_.take(length, what));
  }

  Table table() {
    Table table;
    table.source = name_;
    table.n_rows = bytes_.read<std::int64_t>("the rows of a table");
    const std::uint64_t n_columns = count("columns", 15);
    if (table.n_rows < 0 || (n_columns == 0 && table.n_rows > 0)) {
      fail("a table of " + std::to_string(table.n_rows) + " rows and " + std::to_string(n_columns) + " columns");
    }
    for (std::uint64_t i = 0; i < n_columns; ++i) {
      cancel_.check();
      table.columns.push_back(column(table.n_rows));
    }
    try {
      table.validate();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory) throw;
      fail(error.what());
    }
    return table;
  }

  Column column(std::int64_t n_rows) {
    Column column;
    column.name = text("the name of a column");
    describe(static_cast<std::int64_t>(column.name.size()) + kColumnBytes);
    column.type = static_cast<ValueType>(small("type", static_cast<int>(ValueType::binominal)));
    column.role = static_cast<Role>(small("role", static_cast<int>(Role::ignore)));
    const auto stored = static_cast<Stored>(small("storage", static_cast<int>(Stored::code)));
    const std::uint64_t n_values = count("values", 4);
    if (n_values > INT32_MAX) fail("column '" + column.name + "' has more values than codes");
    std::vector<std::string> names;
    describe(checked::mul(static_cast<std::int64_t>(n_values), std::int64_t{sizeof(std::string)}));
    names.reserve(n_values);
    for (std::uint64_t i = 0; i < n_values; ++i) {
      if (i % kPollEntries == 0) poll_step(cancel_);
      names.push_back(text("a value"));
    }
    column.values = std::move(names);
    if (!column.values.empty() && !column.nominal()) fail("the numeric column '" + column.name + "' names values");
    for (const char c : bytes_.take((kAlignment - bytes_.position() % kAlignment) % kAlignment, "padding")) {
      if (c != '\0') fail("column '" + column.name + "': a byte of its padding is not zero");
    }
    if (n_rows > bytes_.remaining() / width_of(stored)) {
      fail("column '" + column.name + "' of " + std::to_string(n_rows) + " rows does not fit into the " +
           std::to_string(bytes_.remaining()) + " bytes that are left");
    }
    switch (stored) {
      case Stored::float64: column.data = values<double>(n_rows); break;
      case Stored::float32: column.data = values<float>(n_rows); break;
      case Stored::code:
        column.data = values<std::int32_t>(n_rows);
        check_codes(column);
        break;
    }
    return column;
  }

  // Counts what options, tables and columns take besides the columns' values: a file of columns without rows is small,
  // its table is not.
  void describe(std::int64_t bytes) {
    described_ = checked::add(described_, bytes);
    if (described_ <= budget_) return;
    refuse_memory_from("the model's options, tables and columns need", described_, budget_, {name_});
  }

  int small(std::string_view what, int most) {
    const int value = bytes_.read<std::uint8_t>(what);
    if (value > most)
      fail("a column's " + std::string(what) + " is " + std::to_string(value) + ", beyond " + std::to_string(most));
    return value;
  }

  template <class T>
  Buffer<T> values(std::int64_t n_rows) {
    const std::string_view from = bytes_.take(n_rows * static_cast<std::int64_t>(sizeof(T)), "values");
    if (owner_ != nullptr && reinterpret_cast<std::uintptr_t>(from.data()) % alignof(T) == 0) {
      return Buffer<T>::borrow(reinterpret_cast<T*>(const_cast<char*>(from.data())), n_rows, owner_, shared_storage_);
    }
    const auto size = static_cast<std::int64_t>(from.size());
    held_ = checked::add(held_, size);
    Buffer<T> buffer =
        storage_within(held_, budget_) == Storage::memory ? Buffer<T>(n_rows) : mapped_values<T>(n_rows, size);
    std::copy(from.begin(), from.end(), reinterpret_cast<char*>(buffer.data()));
    return buffer;
  }

  // All values from the first that memory does not hold lie in one mapping: the system limits mappings, and tables may
  // have millions of columns. The rest of the file is as large as they are: there, too, values begin at multiples of
  // kAlignment.
  template <class T>
  Buffer<T> mapped_values(std::int64_t n_rows, std::int64_t size) {
    if (mapping_ == nullptr) {
      mapping_ = allocate_shared_bytes(checked::add(size, bytes_.remaining() + kAlignment), Storage::file);
    }
    T* const values = reinterpret_cast<T*>(static_cast<char*>(mapping_.get()) + mapped_);
    mapped_ += checked::ceil_div(size, kAlignment) * kAlignment;
    return Buffer<T>::borrow(values, n_rows, mapping_, Storage::file);
  }

  void check_codes(const Column& column) const {
    const auto n_values = static_cast<std::int64_t>(column.values.size());
    const auto wrong = [&](std::int32_t code) { return code < kMissingCode || code >= n_values; };
    bool any_wrong = false;
    for (const std::int32_t code : column.codes()) any_wrong |= wrong(code);
    if (!any_wrong) return;
    const auto& codes = column.codes();
    const auto at = std::find_if(codes.begin(), codes.end(), wrong);
    throw Error(ErrorCode::invalid_data,
                "column '" + column.name + "', row " + std::to_string(at - codes.begin()) + ": code " +
                    std::to_string(*at) + " is outside its " + std::to_string(n_values) + " values",
                {.file = name_, .feature = column.name, .row = at - codes.begin()});
  }

  io::ByteReader bytes_;
  std::string name_;
  std::shared_ptr<void> owner_;
  Storage shared_storage_;
  std::int64_t budget_, held_ = 0, described_ = 0;
  std::shared_ptr<void> mapping_;
  std::int64_t mapped_ = 0;  // bytes of mapping_ that are taken
  const CancelToken& cancel_;
};

}  // namespace

void write_content(const Content& content, const std::function<void(std::string_view)>& sink) {
  for (const NamedTable& named : content.tables) named.table.validate();
  const std::function<void(std::string_view)> count = [](std::string_view) {};
  Writer counter(count);
  counter.content(content, 0);
  Crc64 sum;
  const std::function<void(std::string_view)> write = [&](std::string_view bytes) {
    sum.add(bytes);
    sink(bytes);
  };
  Writer writer(write);
  writer.content(content, counter.position() + kSumBytes);
  const std::uint64_t value = sum.value();
  sink({reinterpret_cast<const char*>(&value), sizeof value});
}

bool looks_like_model(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

Content read_content(const io::Bytes& bytes, const RunOptions& run, Tables tables) {
  const auto fail = [&](const std::string& what) { throw Error(ErrorCode::invalid_data, what, {bytes.name}); };
  if (!looks_like_model(bytes.view)) fail("this is not a model file of stope");
  io::ByteReader header(bytes.view, bytes.name);
  header.take(static_cast<std::int64_t>(kMagic.size()), "the mark of model files");
  const auto version = header.read<std::uint32_t>("the version");
  if (version > kVersion) {
    fail("a model file of version " + std::to_string(version) + "; this program reads versions up to " +
         std::to_string(kVersion) + ": it was written by a newer stope");
  }
  const auto zero = header.read<std::uint32_t>("the header");
  const auto size = header.read<std::int64_t>("the size of the file");
  const auto here = static_cast<std::int64_t>(bytes.view.size());
  if (size != here || here < kSizeEnd + kSumBytes) {
    fail("the model file should have " + std::to_string(size) + " bytes and has " + std::to_string(here) +
         ": it is cut off or damaged");
  }
  const std::string_view body = bytes.view.substr(0, static_cast<std::size_t>(here - kSumBytes));
  io::ByteReader tail(bytes.view.substr(body.size()), bytes.name);
  if (tail.read<std::uint64_t>("the checksum") != checksum(body, run)) {
    fail("the checksum does not fit: the model file is damaged");
  }
  if (version != kVersion) fail("a model file of version " + std::to_string(version) + ", which never was");
  if (zero != 0) fail("bytes 12 to 15 of the model file are not zero");
  return Reader(bytes, body, run, tables == Tables::shared ? bytes.owner : nullptr).content();
}

}  // namespace stope::model
