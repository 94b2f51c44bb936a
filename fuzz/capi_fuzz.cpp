// A program that is made from random bytes calls the C ABI: handles of every kind, also freed and foreign ones;
// options; arrays with odd strides; rows in blocks; models as bytes. No call crashes or leaks. Code, error and result
// agree. What is lent is given back once. The sizes that a caller states truly bound what it owns: that is the ABI's
// contract.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "capi_input.hpp"
#include "fuzz_table.hpp"
#include "model_parts.hpp"
#include "mutate.hpp"
#include "stope/arrow.hpp"
#include "stope/stope.h"

namespace {

using namespace stope::fuzz;

int released = 0;
void release(void* context) {
  ++released;
  delete static_cast<std::string*>(context);
}

// One execution: the input, and the handles that its calls have made.
class Caller : stope::fuzz::Input {
 public:
  using Input::Input;
  using Input::more;
  ~Caller();
  void begin();
  void call();

 private:
  enum Kind { kRun, kOptions, kTable, kBuilder, kModel, kLists };

  // A handle of a kind; seldom none, a freed one, one of another kind, or a number that stope has not made.
  template <class Handle>
  Handle* handle(Kind kind) {
    if (seldom()) {
      const std::int64_t what = below(4);
      if (what == 0) return nullptr;
      if (what == 1) return reinterpret_cast<Handle*>(std::uintptr_t{0x570e} << 48 | std::uintptr_t{byte()});
      kind = static_cast<Kind>(below(6));
    }
    const std::vector<void*>& all = handles_[kind];
    return all.empty() ? nullptr : static_cast<Handle*>(all[static_cast<std::size_t>(below(std::ssize(all)))]);
  }
  stope_run* run() { return handle<stope_run>(kRun); }
  stope_options* options() { return handle<stope_options>(kOptions); }
  stope_table* table() { return handle<stope_table>(kTable); }
  stope_model* model() { return handle<stope_model>(kModel); }
  stope_builder* builder() { return handle<stope_builder>(kBuilder); }
  stope_lists* lists() { return handle<stope_lists>(kLists); }

  // Calls with an error of any size: what lies behind that size stays, and the fields agree with the code.
  template <class Call>
  stope_code checked(const Call& call);
  template <class Handle, class Call>
  Handle* made(Kind kind, const Call& call);

  const char* value(const std::string& name);
  void make();
  void make_run();
  void make_table();
  void make_labelled();
  void make_rows();
  std::int64_t rows_of(const stope_table* table);
  void use_table();
  void use_model();
  void use_options();
  void search();
  void merge();
  void load();
  void load(std::string bytes);
  void free_one();

  std::array<std::vector<void*>, 6> handles_;
  int lent_ = 0;
};

template <class Call>
stope_code Caller::checked(const Call& call) {
  if (seldom()) return call(nullptr);
  struct {
    stope_error error;
    std::array<char, 64> behind;
  } place;
  std::memset(&place, 0x5a, sizeof place);
  const std::size_t size = seldom() ? static_cast<std::size_t>(byte()) * 6 : sizeof(stope_error);
  const std::size_t kept = std::max<std::size_t>(std::min(size, sizeof(stope_error)), sizeof place.error.size);
  place.error.size = static_cast<std::uint32_t>(size);
  const stope_code code = call(&place.error);
  require(code >= STOPE_OK && code <= STOPE_IO);  // STOPE_INTERNAL is a defect
  const char* const bytes = reinterpret_cast<const char*>(&place);
  require(std::all_of(bytes + kept, bytes + sizeof place, [](char c) { return c == 0x5a; }));
  if (size < sizeof(stope_error)) return code;
  const stope_error& error = place.error;
  require(error.size == size && error.code == code && (code == STOPE_OK) == (error.message[0] == '\0'));
  require(std::memchr(error.option, 0, sizeof error.option) != nullptr);
  require(std::memchr(error.feature, 0, sizeof error.feature) != nullptr);
  require(std::memchr(error.message, 0, sizeof error.message) != nullptr);
  require(error.line >= 0 && error.column >= 0 && error.row >= -1 && error.bytes >= -1);
  return code;
}

// The result is null if and only if the call failed.
template <class Handle, class Call>
Handle* Caller::made(Kind kind, const Call& call) {
  Handle* out = reinterpret_cast<Handle*>(this);
  const stope_code code = checked([&](stope_error* error) { return call(&out, error); });
  require((code == STOPE_OK) == (out != nullptr));
  if (out != nullptr) handles_[kind].push_back(out);
  return out;
}

const char* Caller::value(const std::string& name) {
  const char* const word = one_of(kValues).c_str();
  const bool costly = name == "n_permutations" || name == "bins" || name == "memory_limit" || name == "threads";
  return costly && std::strlen(word) > 1 ? "3" : word;
}

void Caller::make_run() {
  stope_run* const fresh = made<stope_run>(kRun, [](auto out, auto error) { return stope_run_new(out, error); });
  stope_run_set(fresh, "memory_limit", "64MB", nullptr);
  stope_run_set(fresh, "threads", "1", nullptr);
}

void Caller::make() {
  const std::int64_t expected = seldom() ? kHuge : below(50);
  switch (below(6)) {
    case 0: make_run(); break;
    case 1: made<stope_options>(kOptions, [](auto out, auto error) { return stope_options_new(out, error); }); break;
    case 2:
      made<stope_builder>(kBuilder,
                          [&](auto out, auto error) { return stope_builder_new(expected, run(), out, error); });
      break;
    case 3:
      made<stope_builder>(kBuilder, [&](auto out, auto error) {
        return stope_builder_for_model(model(), expected, run(), out, error);
      });
      break;
    default: make_table();
  }
}

void Caller::make_table() {
  const int type = static_cast<int>(below(std::ssize(kSizes)));
  const std::int64_t n_columns = below(5);
  std::vector<char> memory;
  const stope_array values = array(memory, below(40), n_columns, type);
  fill(memory, type, byte());
  const std::array<const char*, 5> names{"a", "b", seldom() ? "a" : "c", seldom() ? nullptr : "d", "e"};
  const char* const* const given = below(2) == 0 ? nullptr : names.data();
  if (below(2) == 0) {
    made<stope_table>(kTable, [&](auto out, auto error) {
      return stope_table_from_array(&values, given, nullptr, nullptr, run(), out, error);
    });
    return;
  }
  auto* const lent = new std::string(memory.data(), memory.size());
  const std::ptrdiff_t offset = values.data == nullptr ? 0 : static_cast<const char*>(values.data) - memory.data();
  stope_array shared = values;
  shared.data = lent->data() + offset;
  ++lent_;
  made<stope_table>(kTable, [&](auto out, auto error) {
    return stope_table_from_array(&shared, given, release, lent, run(), out, error);
  });
}

// A table that every job takes: two numeric features, and a label of either kind.
void Caller::make_labelled() {
  stope_builder* builder = nullptr;
  if (stope_builder_new(0, nullptr, &builder, nullptr) != STOPE_OK) return;
  handles_[kBuilder].push_back(builder);
  const std::array<const char*, 3> classes{"a", "b", "c"};
  const bool nominal = below(4) != 0;
  stope_builder_column(builder, "a", STOPE_REGULAR, "real", nullptr, 0, nullptr);
  stope_builder_column(builder, "b", STOPE_REGULAR, "integer", nullptr, 0, nullptr);
  stope_builder_column(builder, "label", STOPE_LABEL, nominal ? "polynominal" : "real", classes.data(), nominal ? 3 : 0,
                       nullptr);
  std::array<double, 36> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 3 == 2 ? static_cast<double>(i / 3 % 3) : static_cast<double>(below(8)) / 2.0;
  }
  if (seldom()) values[3] = std::nan("");
  const stope_array rows{values.data(), 12, 3, 3 * sizeof(double), sizeof(double), STOPE_FLOAT64, -1, nullptr, nullptr};
  require(stope_builder_append(builder, &rows, nullptr) == STOPE_OK);
  made<stope_table>(kTable, [&](auto out, auto error) { return stope_builder_finish(builder, out, error); });
}

// A model file may say that a table without columns has any number of rows; no array here has so many.
std::int64_t Caller::rows_of(const stope_table* table) {
  return std::clamp<std::int64_t>(stope_table_rows(table), 0, 200);
}

// Columns for a builder, rows for it, and the table.
void Caller::make_rows() {
  stope_builder* const to = builder();
  const std::array<const char*, 3> values{"a", "b", seldom() ? nullptr : seldom() ? "a" : "c"};
  const std::int64_t n_columns = below(4);
  for (std::int64_t i = 0; i < n_columns; ++i) {
    const std::string name(seldom() ? 0 : 1, static_cast<char>('a' + i));
    const char* const type = one_of(kTypes);
    const std::int64_t n_values = seldom() ? -1 : type[0] == 'r' ? 0 : below(4);
    const auto role = static_cast<std::int32_t>(below(12) < 8 ? 0 : below(7) - 1);
    checked(
        [&](auto error) { return stope_builder_column(to, name.c_str(), role, type, values.data(), n_values, error); });
  }
  const int type = static_cast<int>(below(std::ssize(kSizes)));
  std::vector<char> memory;
  const stope_array rows = array(memory, below(20), seldom() ? below(5) : n_columns, type);
  fill(memory, type, byte());
  checked([&](auto error) { return stope_builder_append(to, &rows, error); });
  if (below(2) == 0)
    made<stope_table>(kTable, [&](auto out, auto error) { return stope_builder_finish(to, out, error); });
}

void Caller::use_table() {
  stope_table* const from = table();
  const std::int64_t n_rows = stope_table_rows(from), n_columns = stope_table_columns(from);
  require((n_rows < 0) == (n_columns < 0));
  switch (below(6)) {
    case 0: {
      const int type = static_cast<int>(seldom()        ? below(std::ssize(kSizes))
                                        : below(2) == 0 ? STOPE_FLOAT64
                                                        : STOPE_INT32);
      std::vector<char> memory;
      const stope_array to = array(memory, seldom() ? below(9) : rows_of(from), below(5), type);
      const std::int64_t first = seldom() ? (seldom() ? kHuge : below(9) - 2) : 0;
      checked([&](auto error) { return stope_table_copy(from, first, seldom() ? -kHuge : below(3), &to, error); });
      break;
    }
    case 1: {  // out by Arrow and in again: the same shape
      ArrowSchema schema;
      ArrowArray batch;
      const stope_code code = checked([&](auto error) { return stope_table_to_arrow(from, &schema, &batch, error); });
      require((code == STOPE_OK) == (schema.release != nullptr) && (code == STOPE_OK) == (batch.release != nullptr));
      if (code != STOPE_OK) break;
      stope_table* const again = made<stope_table>(kTable, [&](auto out, auto error) {
        return stope_table_from_arrow_array(&schema, &batch, options(), run(), out, error);
      });
      require(schema.release == nullptr && batch.release == nullptr);
      if (again != nullptr) require(stope_table_rows(again) == n_rows && stope_table_columns(again) == n_columns);
      break;
    }
    case 2:
      require(is_json(stope_table_schema(from)) && (stope_table_schema(from) == nullptr) == (n_rows < 0));
      made<stope_table>(kTable, [&](auto out, auto error) {
        return stope_table_with_role(from, one_of(std::array{"a", "b", "x0", "x1", "prediction"}),
                                     static_cast<std::int32_t>(below(7)) - 1, out, error);
      });
      break;
    case 3: {
      std::vector<char> memory;
      const stope_array to = array(memory, rows_of(from), rows_of(from), STOPE_FLOAT64);
      checked([&](auto error) {
        return stope_pairwise_distances(from, seldom() ? table() : nullptr, options(), run(), &to, error);
      });
      break;
    }
    case 4: {
      const std::array paths{"/nonexistent/a.csv", "", "/", "/nonexistent/a.x"};
      const char* const path = one_of(paths);
      made<stope_table>(
          kTable, [&](auto out, auto error) { return stope_table_from_file(path, options(), run(), out, error); });
      checked([&](auto error) { return stope_table_to_file(from, path, run(), error); });
      checked([&](auto error) { return stope_model_write(model(), path, run(), error); });
      made<stope_model>(kModel, [&](auto out, auto error) {
        return stope_model_read(path, static_cast<std::int32_t>(below(2)), run(), out, error);
      });
      ArrowArrayStream stream{};  // released already
      made<stope_table>(kTable, [&](auto out, auto error) {
        return stope_table_from_arrow(seldom() ? nullptr : &stream, options(), run(), out, error);
      });
      break;
    }
    default:
      made<stope_table>(kTable, [&](auto out, auto error) {
        return stope_compute(one_of(kJobs), from, seldom() ? table() : nullptr, options(), run(), out, error);
      });
  }
}

void Caller::use_options() {
  stope_options* const to = options();
  stope_run* const of = run();
  const std::string& name = one_of(kNames);
  const char* const word = seldom() ? nullptr : value(name);
  switch (below(8)) {
    case 0: {
      const std::array<double, 4> numbers{1.0, 0.0, seldom() ? std::nan("") : 2.0, seldom() ? -HUGE_VAL : 0.5};
      const std::int64_t n = seldom() ? -1 : below(5);
      checked([&](auto error) { return stope_options_set_doubles(to, name.c_str(), numbers.data(), n, error); });
      break;
    }
    case 1: checked([&](auto error) { return stope_run_set(of, name.c_str(), word, error); }); break;
    case 2:
      if (seldom()) stope_run_cancel(of);
      require(is_json(told(of, stope_run_report).c_str()) && is_json(told(of, stope_run_warnings).c_str()));
      break;
    case 3: {
      std::array<char, 32> phase;
      std::int64_t done, total;
      require(stope_run_progress(of, phase.data(), &done, &total) <= 0);  // no job runs
      checked([&](auto error) { return stope_run_reset(of, error); });
      break;
    }
    case 4:
      require(is_json(stope_describe_options(seldom() ? nullptr : one_of(kJobs))));
      require(is_json(stope_describe_options(one_of(kKinds))));
      break;
    default: checked([&](auto error) { return stope_options_set(to, name.c_str(), word, error); });
  }
}

void Caller::use_model() {
  stope_model* const from = model();
  switch (below(5)) {
    case 0:
      made<stope_model>(kModel, [&](auto out, auto error) {
        return stope_fit(one_of(kKinds), table(), options(), run(), out, error);
      });
      break;
    case 1:
      made<stope_table>(kTable,
                        [&](auto out, auto error) { return stope_apply(from, table(), options(), run(), out, error); });
      break;
    case 2:
      require(is_json(stope_model_info(from)));
      stope_model_text(from, one_of(std::array{"text", "json", "dot", "svg", "rules", "x"}));
      checked([&](auto error) { return stope_model_release_devices(from, error); });
      made<stope_table>(kTable, [&](auto out, auto error) {
        return stope_model_table(from, one_of(std::array{"train", "components", "cuts", "nodes", "columns", "x"}), out,
                                 error);
      });
      break;
    default: load();
  }
}

void Caller::search() {
  stope_model* const from = model();
  stope_table* const rows = table();
  const std::int64_t n_rows = rows_of(rows), k = below(6) - (seldom() ? 2 : 0);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::max<std::int64_t>(n_rows * k, 0)));
  std::vector<double> distances(indices.size());
  if (below(2) == 0) {
    checked([&](auto error) {
      return stope_neighbors(from, rows, k, options(), run(), indices.data(), distances.data(), error);
    });
    stope_lists* const found = made<stope_lists>(kLists, [&](auto out, auto error) {
      return stope_radius_neighbors(from, rows, seldom() ? -1.0 : static_cast<double>(below(9)), options(), run(), out,
                                    error);
    });
    if (found == nullptr) return;
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(stope_lists_rows(found) + 1));
    std::vector<std::int64_t> entries(static_cast<std::size_t>(stope_lists_entries(found)));
    require(stope_lists_copy(found, offsets.data(), entries.data(), nullptr, nullptr) == STOPE_OK);
    require(offsets.back() == std::ssize(entries) && std::is_sorted(offsets.begin(), offsets.end()));
    return;
  }
  const int type = static_cast<int>(below(std::ssize(kSizes)));
  std::vector<char> memory;
  const stope_array queries = array(memory, n_rows, below(5), type);
  fill(memory, type, byte());
  checked([&](auto error) {
    return stope_neighbors_of_array(from, &queries, k, options(), run(), indices.data(), distances.data(), error);
  });
}

void Caller::merge() {
  const std::int64_t n_parts = below(4), n_queries = below(4), k = below(4), stride = n_queries * k + below(2);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(n_parts * stride)),
      merged(static_cast<std::size_t>(n_queries * k));
  std::vector<double> distances(indices.size()), at(merged.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = seldom() ? (below(2) == 0 ? INT64_MIN : kHuge) : below(20) - 1;
    distances[i] = indices[i] < 0 || seldom() ? std::nan("") : static_cast<double>(below(4));
  }
  checked([&](auto error) {
    return stope_merge_neighbors(n_parts, seldom() ? kHuge : stride, n_queries, k, indices.data(), distances.data(),
                                 merged.data(), at.data(), error);
  });
}

// A model as bytes and back: as it was stored, with one byte changed, or bytes of the input.
void Caller::load() {
  std::int64_t n = -1;
  stope_model* const from = model();
  std::string bytes;
  if (checked([&](auto error) { return stope_model_bytes(from, &n, error); }) == STOPE_OK) {
    bytes.resize(static_cast<std::size_t>(n));
    checked([&](auto error) { return stope_model_store(from, bytes.data(), seldom() ? n - 1 : n, error); });
    if (below(2) == 0) return load(bytes);
    for (std::int64_t i = below(4); i >= 0; --i) {
      bytes[(byte() * 256U + byte()) % bytes.size()] = static_cast<char>(byte());
    }
  } else {
    for (std::int64_t i = byte(); i > 0; --i) bytes += static_cast<char>(byte());
  }
  if (!seldom()) bytes = resealed(std::move(bytes));
  load(bytes);
}

void Caller::load(std::string bytes) {
  stope_run* const with = run();
  if (below(2) == 0) {
    made<stope_model>(kModel, [&](auto out, auto error) {
      return stope_model_load(bytes.data(), std::ssize(bytes), nullptr, nullptr, with, out, error);
    });
    return;
  }
  auto* const lent = new std::string(std::move(bytes));
  ++lent_;
  made<stope_model>(kModel, [&](auto out, auto error) {
    return stope_model_load(lent->data(), std::ssize(*lent), release, lent, with, out, error);
  });
}

// The handle stays among those that calls take. Freeing it again, or by the function of another kind, does nothing.
void Caller::free_one() {
  switch (below(6)) {
    case 0: stope_run_free(run()); break;
    case 1: stope_options_free(options()); break;
    case 2: stope_table_free(table()); break;
    case 3: stope_builder_free(builder()); break;
    case 4: stope_model_free(model()); break;
    default: stope_lists_free(lists());
  }
}

// What most calls need, so that short inputs reach the jobs.
void Caller::begin() {
  make_run();
  made<stope_options>(kOptions, [](auto out, auto error) { return stope_options_new(out, error); });
  make_labelled();
}

void Caller::call() {
  switch (below(16)) {
    case 0:
    case 1: return make();
    case 2: return below(2) == 0 ? make_table() : make_labelled();
    case 3:
    case 4: return make_rows();
    case 5:
    case 6:
    case 7: return use_table();
    case 8:
    case 9: return use_options();
    case 10:
    case 11:
    case 12: return use_model();
    case 13: return search();
    case 14: return merge();
    default: free_one();
  }
}

Caller::~Caller() {
  for (void* one : handles_[kRun]) stope_run_free(static_cast<stope_run*>(one));
  for (void* one : handles_[kOptions]) stope_options_free(static_cast<stope_options*>(one));
  for (void* one : handles_[kTable]) stope_table_free(static_cast<stope_table*>(one));
  for (void* one : handles_[kBuilder]) stope_builder_free(static_cast<stope_builder*>(one));
  for (void* one : handles_[kModel]) stope_model_free(static_cast<stope_model*>(one));
  for (void* one : handles_[kLists]) stope_lists_free(static_cast<stope_lists*>(one));
  require(released == lent_);
  released = 0;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return mutate_in_place(data, size, most, seed, 15);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Caller caller(data, size);
  caller.begin();
  for (int calls = 0; caller.more() && calls < 200; ++calls) caller.call();
  return 0;
}
