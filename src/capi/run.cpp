// Runs: their options, cancellation from anywhere, progress, report and warnings.
#include "capi/run.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

#include "capi/guarded.hpp"
#include "capi/json.hpp"
#include "capi/options.hpp"
#include "stope/error.hpp"
#include "stope/report.hpp"

namespace stope::capi {

// stope_run_cancel() may interrupt a thread anywhere, even one that holds the lock of the handles. So it looks runs up
// here, without a lock. A slot has one token for ever, which its run of the moment uses. Slots are used again, and are
// never freed. A cancel that meets the end of its own run may therefore reach the slot's next run.
struct CancelSlot {
  std::atomic<const void*> handle = nullptr;
  std::atomic<bool> taken = false;
  CancelToken token;
  CancelSlot* next = nullptr;  // written before the slot is in the list
};

namespace {

std::atomic<CancelSlot*> first_slot = nullptr;

CancelSlot* take_slot() {
  for (CancelSlot* slot = first_slot.load(); slot != nullptr; slot = slot->next) {
    bool taken = false;
    if (slot->taken.compare_exchange_strong(taken, true)) return slot;
  }
  auto* const fresh = new CancelSlot;
  fresh->taken = true;
  fresh->next = first_slot.load();
  while (!first_slot.compare_exchange_weak(fresh->next, fresh)) {
  }
  return fresh;
}

CancelSlot* slot_of(const void* handle) {
  if (handle == nullptr) return nullptr;
  for (CancelSlot* slot = first_slot.load(); slot != nullptr; slot = slot->next) {
    if (slot->handle.load() == handle) return slot;
  }
  return nullptr;
}

[[noreturn]] void refuse_busy() {
  throw Error(ErrorCode::invalid_argument, "the run is busy with another job; every job at a time takes its own run",
              {.option = "run"});
}

// Calls `work` while no job uses the run.
template <class Work>
void while_idle(Run& run, const Work& work) {
  const std::lock_guard lock(run.mutex);
  if (run.busy) refuse_busy();
  work();
}

struct Settings {
  std::int64_t threads = 0;
  std::string memory_limit = "0";
  std::string device = "auto";

  void visit(Visitor& visitor) {
    visitor.integer("threads", threads, "worker threads; 0 = as many as the process may use");
    visitor.text("memory_limit", memory_limit, "bytes, or a size such as 2GB; 0 = 80 % of what is available");
    visitor.text("device", device, "auto, cpu, cuda, cuda:0,1 or cuda:GPU-<uuid>");
  }
};

void set(RunOptions& options, const std::string& name, const std::string& value) {
  const auto set = read_options<Settings>(Options{{{name, value}}, {}}, "a run");
  if (name == "threads") {
    if (set.threads < 0 || set.threads > std::numeric_limits<int>::max()) {
      throw Error(ErrorCode::invalid_argument, "threads: '" + value + "' is no number of threads",
                  {.option = "threads"});
    }
    options.threads = static_cast<int>(set.threads);
  } else if (name == "memory_limit") {
    options.memory_limit = value == "0" ? 0 : parse_bytes(value, "memory_limit");
  } else {
    options.device = value;
  }
}

}  // namespace

Run::~Run() {
  if (slot != nullptr) slot->taken = false;
}

JobRun::JobRun(stope_run* handle) : run_(handle == nullptr ? std::make_shared<Run>() : at<Run>(handle)) {
  while_idle(*run_, [this] {
    options_ = run_->options;
    options_.warn = [run = run_.get()](std::string_view code, std::string_view text) {
      run->warnings.emplace_back(code, text);
    };
    options_.report = [run = run_.get()](const Report& done) { run->report = done.to_json(); };
    run_->report = "{}";
    run_->busy = true;
  });
}

JobRun::~JobRun() {
  const std::lock_guard lock(run_->mutex);
  run_->busy = false;
}

RunOptions JobRun::lasting() const {
  RunOptions options = options_;
  options.warn = {};
  options.report = {};
  options.watch = {};
  return options;
}

}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_run_new(stope_run** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    auto run = std::make_shared<Run>();
    run->slot = take_slot();
    run->slot->token.reset();
    run->options.cancel = run->slot->token;
    CancelSlot* const slot = run->slot;
    *out = give<stope_run>(std::move(run));
    slot->handle = *out;
  });
}

stope_code stope_run_set(stope_run* run, const char* name, const char* value, stope_error* error) {
  return guarded(error, [&] {
    const auto to = at<Run>(run);
    const std::string key = required(name, "name"), word = required(value, "value");
    while_idle(*to, [&] { set(to->options, key, word); });
  });
}

void stope_run_cancel(stope_run* run) {
  if (const CancelSlot* const slot = slot_of(run)) slot->token.cancel();
}

stope_code stope_run_reset(stope_run* run, stope_error* error) {
  return guarded(error, [&] {
    const auto to = at<Run>(run);
    while_idle(*to, [&] {
      to->report = "{}";
      to->warnings.clear();
      to->options.cancel.reset();
    });
  });
}

int32_t stope_run_progress(stope_run* run, char phase[32], int64_t* done, int64_t* total) {
  try {
    const auto of = find<Run>(run);
    if (of == nullptr) return -1;
    const stope::ProgressState state = of->options.watch.state();
    if (phase != nullptr) phase[state.phase.copy(phase, 31)] = '\0';
    if (done != nullptr) *done = state.done;
    if (total != nullptr) *total = state.total;
    return state.running ? 1 : 0;
  } catch (...) {
    return -1;
  }
}

const char* stope_run_report(stope_run* run) {
  const auto of = find<Run>(run);
  if (of == nullptr) return nullptr;
  const std::lock_guard lock(of->mutex);
  return of->busy ? nullptr : of->report.c_str();
}

const char* stope_run_warnings(stope_run* run) {
  const auto of = find<Run>(run);
  if (of == nullptr) return nullptr;
  try {
    const std::lock_guard lock(of->mutex);
    if (of->busy) return nullptr;
    Json list = Json::array();
    for (const auto& [code, text] : of->warnings) list.push_back({{"code", code}, {"text", text}});
    of->warnings_json = json_text(list);
    return of->warnings_json.c_str();
  } catch (...) {
    return nullptr;
  }
}

void stope_run_free(stope_run* run) {
  const std::shared_ptr<void> removed = remove_handle(run, Kind::run);
  if (removed == nullptr) return;
  if (CancelSlot* const slot = slot_of(run)) slot->handle = nullptr;
}
