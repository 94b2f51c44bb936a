// read_csv: it plans, cuts the text into segments, parses them in parallel, and merges the dictionaries.
#include "io/csv/reader.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "io/csv/guess_warnings.hpp"
#include "io/csv/nominal_values.hpp"
#include "io/csv/parse.hpp"
#include "io/csv/wide.hpp"
#include "table/column_memory.hpp"

namespace stope::io::csv {
namespace {

// Chunks of 1 MiB keep 32 threads busy in a file of 100 MB and cost one task switch per millisecond. Batches of 4096
// fields keep their text, index and output in the first two cache levels (bench/results/csv_*.json).
constexpr std::int64_t kChunkBytes = std::int64_t{1} << 20;
constexpr std::int64_t kBatchFields = 4096;
// Records of a batch of long ones: their values of one column fill two lines of memory. At most so many fields, whose
// index takes 8 MB.
constexpr std::int64_t kLeastBatch = 16, kMostBatchFields = std::int64_t{1} << 20;

std::int64_t chunk_bytes(const Tuning& tuning) {
  if (tuning.chunk_bytes > 0) return tuning.chunk_bytes;
  const std::int64_t forced = environment::count(environment::Variable::csv_chunk);
  return forced > 0 ? forced : kChunkBytes;
}

class Reader {
 public:
  Reader(const Bytes& bytes, const ReadOptions& options, const Schema* schema, const RunOptions& run,
         const Tuning& tuning)
      : options_(options),
        run_(run),
        kernels_(tuning.kernels != nullptr ? *tuning.kernels : best_kernels()),
        tuning_(tuning),
        budget_(std::max<std::int64_t>(0, memory_budget(run) - (run.memory_limit > 0 ? bytes.held : 0))),
        text_(open_text(bytes, options, budget_)),
        plan_(make_plan(text_, options, schema, run.cancel)),
        pool_(needs_threads() ? run.threads : 1) {
    budget_ = text_.budget - std::ssize(plan_.columns) * kColumnBytes;  // at least 0, as the head was read
    layout_ = {plan_.data_begin, static_cast<std::int64_t>(plan_.columns.size()), plan_.rules.dialect,
               csv::chunk_bytes(tuning), options.allow_ragged};
  }

  Table read() {
    segments_ = guess_segments(text_, layout_, kernels_, pool_, run_.cancel);
    const auto n = static_cast<std::int64_t>(text_.view.size());
    const bool guessed = !segments_.empty() || layout_.data_begin == n;
    if (!guessed || !read_columns()) {
      // The exact scan also finds any mistake in the file; then it throws, and nothing below is reached.
      segments_ = exact_segments(text_, layout_, run_.cancel);
      if (!read_columns()) throw_bad_value();
    }
    if (run_.warn) warn_of_guesses({text_, plan_, layout_, segments_, table_, odd_, ragged_, pool_}, options_, run_);
    return std::move(table_);
  }

 private:
  // A small file has one chunk, and starting a thread takes longer than what it could do.
  bool needs_threads() const {
    constexpr std::int64_t kSmall = std::int64_t{1} << 19;
    return csv::chunk_bytes(tuning_) < kChunkBytes || std::ssize(text_.view) >= kSmall;
  }

  bool is_wide() const {
    if (layout_.ragged || n_rows_ == 0) return false;
    return tuning_.tile_width > 0 || (tuning_.tile_width == 0 && suits_tiles(n_rows_, layout_.n_columns));
  }

  std::int64_t batch_fields() const {
    if (tuning_.batch_fields > 0) return tuning_.batch_fields;
    const std::int64_t batch = layout_.n_columns < kMostBatchFields ? kLeastBatch * layout_.n_columns : 0;
    return std::clamp(batch, kBatchFields, kMostBatchFields);
  }

  // False if a segment was not as guessed or holds a bad value.
  bool read_columns() {
    bad_value_ = {};
    odd_ = {};
    ragged_ = {};
    n_rows_ = segments_.empty() ? 0 : segments_.back().first_row + segments_.back().n_rows;
    table_ = {};
    table_.source = text_.name;
    table_.n_rows = n_rows_;
    table_.columns.resize(plan_.columns.size());
    if (is_wide()) {
      return read_wide({text_, layout_, segments_, kernels_, run_, options_.nominal_order, budget_, tuning_.tile_width,
                        pool_, plan_, table_, odd_},
                       bad_value_);
    }
    std::vector<std::size_t> columns(plan_.columns.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    std::vector<std::size_t> wrong;
    while (!columns.empty()) {
      if (!parse(columns, wrong)) return false;
      // What a column seemed to be at the head of the file does not hold further down: it is read again.
      for (const std::size_t c : wrong) {
        take_next_reading(plan_.columns[c], plan_.rules);
        table_.columns[c].data = Buffer<double>();
      }
      columns = wrong;
    }
    return true;
  }

  // Buffers for the columns of a job.
  void allocate(ParseJob& job) {
    std::int64_t row_bytes = 0;
    for (const std::size_t c : job.columns) row_bytes += plan_.columns[c].kind == Kind::nominal ? 4 : 8;
    const std::int64_t bytes = checked::mul(n_rows_, row_bytes);
    const Storage storage = storage_within(bytes, budget_);
    ColumnMemory memory(storage, n_rows_, static_cast<std::int64_t>(job.columns.size()), row_bytes);
    job.outputs.resize(plan_.columns.size());
    for (const std::size_t c : job.columns) {
      if (plan_.columns[c].kind == Kind::nominal) {
        Buffer<std::int32_t> buffer = memory.take<std::int32_t>();
        job.outputs[c].codes = buffer.data();
        table_.columns[c].data = std::move(buffer);
      } else {
        Buffer<double> buffer = memory.take<double>();
        job.outputs[c].numbers = buffer.data();
        table_.columns[c].data = std::move(buffer);
      }
    }
  }

  bool parse(const std::vector<std::size_t>& columns, std::vector<std::size_t>& wrong) {
    const auto n = static_cast<std::int64_t>(text_.view.size());
    const PaddedText padded(text_.view, segments_.empty() ? Segment{n, n} : segments_.back());
    RowTexts row_texts(plan_.columns.size(), n_rows_, tuning_.kept_texts);
    ParseJob job{text_,   layout_, plan_,  kernels_,  batch_fields(),
                 columns, {},      padded, row_texts, std::vector<std::atomic<bool>>(plan_.columns.size())};
    allocate(job);
    MemoryMeter meter(budget_ - table_.bytes_in_memory(), text_.name);
    std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(pool_.size()));
    // There is at least one worker: its seeded dictionaries are the values of a table without rows.
    workers[0] = std::make_unique<Worker>(job, meter);
    std::vector<int> worker_of(segments_.size());
    std::vector<ParseStatus> status(segments_.size(), ParseStatus::done);
    std::atomic<bool> stop{false};
    const RunningJob running(run_);
    PhaseProgress progress(run_, "read", static_cast<std::int64_t>(text_.view.size()) - layout_.data_begin);
    pool_.parallel_for(
        static_cast<std::int64_t>(segments_.size()), run_.cancel,
        [&](std::int64_t i, int w) {
          // Segments are handed out in order: all those before a failed one have begun and will be finished.
          if (stop.load(std::memory_order_relaxed)) return;
          auto& worker = workers[static_cast<std::size_t>(w)];
          if (worker == nullptr) worker = std::make_unique<Worker>(job, meter);
          const auto s = static_cast<std::size_t>(i);
          status[s] = worker->parse(segments_[s]);
          worker_of[s] = w;
          if (status[s] != ParseStatus::done) {
            note_failure(*worker, status[s]);
            stop.store(true, std::memory_order_relaxed);
          }
          progress.add(segments_[s].end - segments_[s].begin);
        },
        &progress);
    if (stop.load()) return false;
    wrong.clear();
    for (const std::size_t c : job.columns) {
      if (job.misfits[c].load()) wrong.push_back(c);
    }
    ragged_ = {};
    for (const auto& worker : workers) {
      if (worker != nullptr) ragged_.add(worker->ragged());
    }
    finish(job, workers, worker_of);
    return true;
  }

  void note_failure(const Worker& worker, ParseStatus status) {
    if (status != ParseStatus::bad_value) return;
    const std::lock_guard lock(notes_mutex_);
    if (bad_value_.offset < 0 || worker.bad_value().offset < bad_value_.offset) bad_value_ = worker.bad_value();
  }

  using Workers = std::vector<std::unique_ptr<Worker>>;

  void finish(const ParseJob& job, const Workers& workers, const std::vector<int>& worker_of) {
    pool_.parallel_for(static_cast<std::int64_t>(job.columns.size()), run_.cancel, [&](std::int64_t i, int) {
      const std::size_t c = job.columns[static_cast<std::size_t>(i)];
      const ColumnPlan& plan = plan_.columns[c];
      Column& column = table_.columns[c];
      column.name = plan.name;
      column.type = plan.type;
      if (plan.kind == Kind::nominal) {
        finish_values(job, column, c, workers, worker_of);
        if (!plan.declared && is_truth_list(column.values)) column.type = ValueType::binominal;
        return;
      }
      note_odd_fields(c, workers);
      if (plan.kind == Kind::numeric && !plan.declared) {
        bool whole = true, present = false;
        for (const auto& worker : workers) {
          if (worker == nullptr) continue;
          whole = whole && worker->notes(c).all_whole;
          present = present || worker->notes(c).any_present;
        }
        column.type = whole && present ? ValueType::integer : ValueType::real;
      }
    });
  }

  void note_odd_fields(std::size_t c, const Workers& workers) {
    for (const auto& worker : workers) {
      if (worker == nullptr) continue;
      const FirstField& lost = worker->notes(c).lost_digits;
      const FirstField& time = worker->notes(c).offset_time;
      if (lost.offset < 0 && time.offset < 0) continue;
      const std::lock_guard lock(notes_mutex_);
      if (lost.offset >= 0) odd_.lost_digits[c].note(lost.offset, lost.text);
      if (time.offset >= 0) odd_.offset_times[c].note(time.offset, time.text);
    }
  }

  // Makes one value list of all workers' dictionaries, in the order wanted, and its codes.
  void finish_values(const ParseJob& job, Column& column, std::size_t c, const Workers& workers,
                     const std::vector<int>& worker_of) {
    const ColumnPlan& plan = plan_.columns[c];
    const std::span<const std::string_view> kept = job.row_texts.of(c);
    std::vector<const Dictionary*> dictionaries(workers.size());
    bool final_already = kept.empty();
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (workers[w] == nullptr) continue;
      dictionaries[w] = &workers[w]->dictionary(c);
      final_already = final_already && dictionaries[w]->size() == std::ssize(plan.values());
    }
    if (final_already) {
      column.values = plan.values();
      return;
    }
    std::int32_t* const codes = std::get<Buffer<std::int32_t>>(column.data).data();
    std::vector<CodedRows> rows;
    rows.reserve(segments_.size());
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      rows.push_back({static_cast<std::size_t>(worker_of[s]),
                      {codes + segments_[s].first_row, static_cast<std::size_t>(segments_[s].n_rows)}});
    }
    column.values = join_dictionaries(dictionaries, options_.nominal_order, run_.cancel, rows,
                                      {kept, {codes, static_cast<std::size_t>(n_rows_)}});
  }

  [[noreturn]] void throw_bad_value() const {
    // The grammar never contradicts itself: the bytes of a mapped file are others by now.
    if (bad_value_.offset < 0) throw Error(ErrorCode::io, "changed while it was read", {text_.name});
    const ColumnPlan& plan = plan_.columns[static_cast<std::size_t>(bad_value_.column)];
    const char* what = plan.kind == Kind::numeric ? "is not a number"
                       : plan.kind == Kind::date  ? "is not an ISO date"
                                                  : "is not among the schema's values";
    Place place = place_of(text_, bad_value_.offset);
    place.feature = plan.name;
    throw Error(ErrorCode::invalid_data, "column '" + plan.name + "': '" + bad_value_.text + "' " + what, place);
  }

  const ReadOptions& options_;
  const RunOptions& run_;
  const Kernels& kernels_;
  const Tuning tuning_;
  std::int64_t budget_;
  Text text_;
  Plan plan_;
  ThreadPool pool_;
  Layout layout_;
  std::vector<Segment> segments_;
  std::int64_t n_rows_ = 0;
  OddFields odd_;
  RaggedRecords ragged_;
  std::mutex notes_mutex_;  // of odd_ and bad_value_
  BadValue bad_value_;
  Table table_;
};

}  // namespace

Table read(const Bytes& bytes, const ReadOptions& options, const Schema* schema, const RunOptions& run,
           const Tuning& tuning) {
  return Reader(bytes, options, schema, run, tuning).read();
}

}  // namespace stope::io::csv

namespace stope::io {

Table read_csv(const Bytes& bytes, const ReadOptions& options, const Schema* schema, const RunOptions& run) {
  return csv::read(bytes, options, schema, run, {});
}

}  // namespace stope::io
