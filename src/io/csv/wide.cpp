#include "io/csv/wide.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "io/csv/nominal_values.hpp"
#include "io/csv/tiles.hpp"
#include "table/column_memory.hpp"

namespace stope::io::csv {
namespace {

// Fields of a tile: their text, index and values fit a second-level cache of 1 MiB.
constexpr std::int64_t kTileFields = std::int64_t{1} << 16;
// A part of a record of fewer fields would cost more to find than to parse.
constexpr std::int64_t kLeastWidth = 64;
constexpr std::int64_t kMostRows = 8192, kFewestColumns = 512;
constexpr std::int64_t kTilesPerThread = 8;

// Consecutive records that lie within 4 GB of one memory, so that 32 bits index them.
struct Group {
  std::int64_t first_row, n_rows;
  const char* base;
  std::int64_t text_offset;
  bool by_grammar;  // some record: then the fields' begins are written down, too
};

std::int64_t width_for(const WideJob& job) {
  if (job.tile_width > 0) return job.tile_width;
  const std::int64_t n_columns = job.layout.n_columns;
  const std::int64_t shared = checked::ceil_div(n_columns, kTilesPerThread * job.pool.size());
  const std::int64_t fitting = kTileFields / std::max<std::int64_t>(job.table.n_rows, 1);
  return std::max(kLeastWidth, std::min(shared, fitting));
}

// Columns of values, handed to several threads. In a file they share one mapping, in memory each thread has its own.
class SharedMemory {
 public:
  SharedMemory(Storage storage, std::int64_t n_rows, std::int64_t n_columns, std::int64_t row_bytes)
      : n_rows_(n_rows), n_columns_(n_columns) {
    if (storage == Storage::file) file_ = std::make_unique<ColumnMemory>(storage, n_rows, n_columns, row_bytes);
  }
  ColumnMemory own() const { return {Storage::memory, n_rows_, n_columns_, 0}; }
  template <class T>
  Buffer<T> take(ColumnMemory& own) {
    if (file_ == nullptr) return own.take<T>();
    const std::lock_guard lock(mutex_);
    return file_->take<T>();
  }

 private:
  std::int64_t n_rows_, n_columns_;
  std::mutex mutex_;
  std::unique_ptr<ColumnMemory> file_;
};

// What all threads share.
struct Shared {
  const WideJob& job;
  const PaddedText& text;
  const Tiles& tiles;
  const std::vector<Group>& groups;
  SharedMemory& memory;
  MemoryMeter& meter;
  std::mutex mutex = {};  // of what follows, and of job.odd
  BadValue bad = {};
  int bad_attempt = 0;
};

// One thread's part: it fills the columns of one tile after the other.
class TileParser {
 public:
  explicit TileParser(Shared& shared)
      : shared_(shared),
        job_(shared.job),
        n_rows_(shared.tiles.shape().n_rows),
        stride_(stride_for(shared.tiles.shape().width)),
        own_(shared.memory.own()),
        parser_(job_.plan.rules, job_.kernels, n_rows_),
        dictionary_(shared.meter),
        ends_(static_cast<std::size_t>(checked::mul(n_rows_, stride_) + 64)),
        numbers_(static_cast<std::size_t>(n_rows_)),
        codes_(static_cast<std::size_t>(n_rows_)) {
    for (const std::string& token : job_.plan.rules.tokens) dictionary_.add_missing_token(token);
  }

  void parse(std::int64_t tile) {
    index(tile);
    const std::int64_t first = shared_.tiles.shape().first_column(tile);
    for (std::int64_t i = 0; i < shared_.tiles.shape().columns(tile); ++i) {
      parse_column(static_cast<std::size_t>(first + i), i);
    }
  }

 private:
  // The entries of one column lie in as many lines as there are records. An odd number of lines between them spreads
  // them over all sets of the first-level cache.
  static std::int64_t stride_for(std::int64_t width) {
    constexpr std::int64_t kEntries = 64 / sizeof(std::uint32_t);
    return (checked::ceil_div(width + 1, kEntries) | 1) * kEntries;
  }

  void index(std::int64_t tile) {
    for (const Group& group : shared_.groups) {
      if (group.by_grammar && begins_.empty()) begins_.resize(ends_.size());
      for (std::int64_t row = group.first_row; row < group.first_row + group.n_rows; ++row) {
        index_part(group, row, tile);
      }
    }
  }

  // Entry 0 of a record's ends stands for the separator before the part.
  void index_part(const Group& group, std::int64_t row, std::int64_t tile) {
    const Tiles& tiles = shared_.tiles;
    const char* const part = shared_.text.at(tiles.begin(row, tile));
    const std::int64_t size = tiles.end(row, tile) - tiles.begin(row, tile);
    const auto origin = static_cast<std::uint32_t>(part - group.base);
    std::uint32_t* const ends = ends_.data() + row * stride_ + 1;
    std::uint32_t* const begins = group.by_grammar ? begins_.data() + row * stride_ : nullptr;
    const std::int64_t n_columns = tiles.shape().columns(tile);
    // The part had as many when it was found. In a mapped file it may have fewer by now: then the ends of others are
    // there.
    const auto require_fields = [&](std::int64_t n_found) {
      if (n_found < n_columns) throw Error(ErrorCode::io, "changed while it was read", {job_.text.name});
    };
    if (tiles.by_grammar(row)) {
      const bool last = tile + 1 == tiles.shape().n_tiles();
      const std::string_view text(part, static_cast<std::size_t>(last ? size : size - 1));
      Dialect dialect = job_.layout.dialect;
      dialect.comment = '\0';  // within a record it is a character as any other
      std::int64_t i = 0;
      scan_record(text, 0, dialect, [&](std::int64_t begin, std::int64_t end) {
        if (i == n_columns) return;
        begins[i] = origin + static_cast<std::uint32_t>(begin);
        ends[i++] = origin + static_cast<std::uint32_t>(end);
      });
      require_fields(i);
      return;
    }
    ends[-1] = origin - 1;  // + 1 = origin, whatever it is
    require_fields(
        job_.kernels.index_fields(part, size, job_.layout.dialect.separator, n_columns, origin, ends).n_fields);
    if (begins == nullptr) return;
    for (std::int64_t i = 0; i < n_columns; ++i) begins[i] = ends[i - 1] + 1;
    const bool last = tile + 1 == tiles.shape().n_tiles();
    if (last && ends[n_columns - 1] > begins[n_columns - 1] && group.base[ends[n_columns - 1] - 1] == '\r') {
      --ends[n_columns - 1];
    }
  }

  Fields fields_of(const Group& group, std::size_t column, std::int64_t i) const {
    const std::uint32_t* const ends = ends_.data() + group.first_row * stride_ + 1 + i;
    const std::uint32_t* const begins = group.by_grammar ? begins_.data() + group.first_row * stride_ + i : ends - 1;
    const bool last = !group.by_grammar && static_cast<std::int64_t>(column) + 1 == job_.layout.n_columns;
    return {{group.base, begins, ends, group.by_grammar ? 0U : 1U, stride_, group.n_rows, last}, group.text_offset};
  }

  void parse_column(std::size_t column, std::int64_t i) {
    ColumnReading reading = job_.plan.columns[column];
    for (int attempt = 0;; ++attempt) {
      notes_ = {};
      const Fit fit = reading.kind == Kind::nominal ? fill_codes(column, i, reading) : fill_numbers(column, i, reading);
      if (fit == Fit::yes) return keep(column, reading);
      if (fit == Fit::bad) return note_bad(column, attempt);
      take_next_reading(reading, job_.plan.rules);
    }
  }

  Fit fill_numbers(std::size_t column, std::int64_t i, const ColumnReading& reading) {
    for (const Group& group : shared_.groups) {
      const Fields fields = fields_of(group, column, i);
      double* const out = numbers_.data() + group.first_row;
      const Fit fit = reading.kind == Kind::date ? parser_.dates(fields, reading, out, notes_)
                                                 : parser_.numbers(fields, reading, out, notes_);
      if (fit != Fit::yes) return fit;
    }
    return Fit::yes;
  }

  Fit fill_codes(std::size_t column, std::int64_t i, const ColumnReading& reading) {
    const ColumnPlan& plan = job_.plan.columns[column];
    const auto n_listed = std::ssize(plan.values());
    dictionary_.restart();
    add_known_values(dictionary_, plan);
    for (const Group& group : shared_.groups) {
      const Fit fit = parser_.codes(fields_of(group, column, i), reading, group.first_row, n_listed, dictionary_,
                                    codes_.data() + group.first_row);
      if (fit != Fit::yes) return fit;
    }
    return Fit::yes;
  }

  void note_bad(std::size_t column, int attempt) {
    const std::lock_guard lock(shared_.mutex);
    const FirstField& field = parser_.misfit();
    const auto is_before = [&] {
      return std::pair(attempt, field.offset) < std::pair(shared_.bad_attempt, shared_.bad.offset);
    };
    if (shared_.bad.offset >= 0 && !is_before()) return;
    shared_.bad = {field.offset, static_cast<std::int64_t>(column), field.text};
    shared_.bad_attempt = attempt;
  }

  // Makes the column final.
  void keep(std::size_t column, const ColumnReading& reading) {
    ColumnPlan& plan = job_.plan.columns[column];
    static_cast<ColumnReading&>(plan) = reading;
    Column& to = job_.table.columns[column];
    to.name = plan.name;
    to.type = reading.type;
    if (reading.kind == Kind::nominal) {
      keep_values(to, plan);
      return;
    }
    if (reading.kind == Kind::numeric && !reading.declared) {
      to.type = notes_.all_whole && notes_.any_present ? ValueType::integer : ValueType::real;
    }
    to.data = copy_of(numbers_);
    note_odd(column);
  }

  template <class T>
  Buffer<T> copy_of(const std::vector<T>& values) {
    Buffer<T> buffer = shared_.memory.template take<T>(own_);
    std::memcpy(buffer.data(), values.data(), values.size() * sizeof(T));
    return buffer;
  }

  void keep_values(Column& to, const ColumnPlan& plan) {
    if (dictionary_.size() != static_cast<std::int32_t>(plan.values().size())) {
      order_codes(dictionary_, job_.order, order_);
      rank_.resize(order_.size());
      for (std::size_t i = 0; i < order_.size(); ++i) {
        rank_[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
      }
      for (std::int32_t& code : codes_) {
        if (code >= 0) code = rank_[static_cast<std::size_t>(code)];
      }
    } else {
      order_.resize(plan.values().size());
      std::iota(order_.begin(), order_.end(), 0);
    }
    to.values = values_in_order();
    if (!plan.declared && is_truth_list(to.values)) to.type = ValueType::binominal;
    to.data = copy_of(codes_);
  }

  // Columns of wide tables often have the same few values, as genotypes do. Those that follow each other share a list.
  Values values_in_order() {
    const auto same = [this](std::int32_t code, const std::string& text) { return dictionary_.value(code) == text; };
    if (std::equal(order_.begin(), order_.end(), last_values_.begin(), last_values_.end(), same)) return last_values_;
    std::vector<std::string> values;
    values.reserve(order_.size());
    std::int64_t bytes = 0;
    for (const std::int32_t code : order_) {
      bytes += static_cast<std::int64_t>(dictionary_.value(code).size() + sizeof(std::string));
      values.emplace_back(dictionary_.value(code));
    }
    shared_.meter.take(bytes);
    last_values_ = Values(std::move(values));
    return last_values_;
  }

  void note_odd(std::size_t column) {
    if (notes_.lost_digits.offset < 0 && notes_.offset_time.offset < 0) return;
    const std::lock_guard lock(shared_.mutex);
    if (notes_.lost_digits.offset >= 0) job_.odd.lost_digits[column] = notes_.lost_digits;
    if (notes_.offset_time.offset >= 0) job_.odd.offset_times[column] = notes_.offset_time;
  }

  Shared& shared_;
  const WideJob& job_;
  std::int64_t n_rows_, stride_;
  ColumnMemory own_;
  ColumnParser parser_;
  Dictionary dictionary_;
  std::vector<std::uint32_t> begins_, ends_;  // by record and column of the tile
  std::vector<double> numbers_;               // of the column under way
  std::vector<std::int32_t> codes_, order_, rank_;
  ColumnNotes notes_;
  Values last_values_;
};

// Groups of records. The last segment lies in a memory of its own.
std::vector<Group> groups_of(const Tiles& tiles, const PaddedText& text) {
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 32) - 1024;
  const TileShape& shape = tiles.shape();
  std::vector<Group> groups;
  for (std::int64_t row = 0; row < shape.n_rows; ++row) {
    const std::int64_t begin = tiles.begin(row, 0), end = tiles.end(row, shape.n_tiles() - 1);
    const bool joins = !groups.empty() && end - groups.back().text_offset <= kFarthest &&
                       (begin < text.tail_begin() || groups.back().text_offset >= text.tail_begin());
    if (!joins) groups.push_back({row, 0, text.at(begin), begin, false});
    ++groups.back().n_rows;
    groups.back().by_grammar = groups.back().by_grammar || tiles.by_grammar(row);
  }
  return groups;
}

std::int64_t share_of(std::int64_t n_bytes, std::int64_t tile, std::int64_t n_tiles) {
  return static_cast<std::int64_t>(static_cast<double>(n_bytes) * static_cast<double>(tile) /
                                   static_cast<double>(n_tiles));
}

bool find_tiles(const WideJob& job, const PaddedText& text, Tiles& tiles) {
  std::vector<std::unique_ptr<TileFinder>> finders(static_cast<std::size_t>(job.pool.size()));
  std::atomic<bool> irregular{false};
  job.pool.parallel_for(std::ssize(job.segments), job.run.cancel, [&](std::int64_t i, int worker) {
    auto& finder = finders[static_cast<std::size_t>(worker)];
    if (finder == nullptr) {
      finder = std::make_unique<TileFinder>(text, job.text.name, job.layout.dialect, job.kernels, tiles);
    }
    if (!irregular.load() && !finder->find(job.segments[static_cast<std::size_t>(i)])) irregular.store(true);
  });
  return !irregular.load();
}

}  // namespace

bool suits_tiles(std::int64_t n_rows, std::int64_t n_columns) {
  return n_rows > 0 && n_rows <= std::min(n_columns, kMostRows) && n_columns >= kFewestColumns;
}

bool read_wide(const WideJob& job, BadValue& bad) {
  const RunningJob running(job.run);
  const std::int64_t n_bytes = static_cast<std::int64_t>(job.text.view.size()) - job.layout.data_begin;
  PhaseProgress progress(job.run, "read", n_bytes);
  const PaddedText text(job.text.view, job.segments.back());
  Tiles tiles({job.table.n_rows, job.layout.n_columns, width_for(job)});
  if (!find_tiles(job, text, tiles)) return false;
  const std::vector<Group> groups = groups_of(tiles, text);

  std::int64_t row_bytes = 0;
  for (const ColumnPlan& plan : job.plan.columns) row_bytes += plan.kind == Kind::nominal ? 4 : 8;
  const std::int64_t value_bytes = checked::mul(job.table.n_rows, row_bytes);
  const Storage storage = storage_within(value_bytes, job.budget);
  SharedMemory memory(storage, job.table.n_rows, job.layout.n_columns, row_bytes);
  MemoryMeter meter(job.budget - (storage == Storage::memory ? value_bytes : 0), job.text.name);
  Shared shared{job, text, tiles, groups, memory, meter};
  std::vector<std::unique_ptr<TileParser>> parsers(static_cast<std::size_t>(job.pool.size()));
  const std::int64_t n_tiles = tiles.shape().n_tiles();
  job.pool.parallel_for(
      n_tiles, job.run.cancel,
      [&](std::int64_t tile, int worker) {
        auto& parser = parsers[static_cast<std::size_t>(worker)];
        if (parser == nullptr) parser = std::make_unique<TileParser>(shared);
        parser->parse(tile);
        progress.add(share_of(n_bytes, tile + 1, n_tiles) - share_of(n_bytes, tile, n_tiles));
      },
      &progress);
  bad = shared.bad;
  return bad.offset < 0;
}

}  // namespace stope::io::csv
