// Runs: their options, cancellation from anywhere, progress, report and warnings.
#include "capi/run.hpp"
#include "capi/options.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "capi/guarded.hpp"
#include "jobs/job_options.hpp"
#include "jobs/json.hpp"
#include "stope/error.hpp"
#include "stope/report.hpp"
#include "stope/words.hpp"

namespace stope::capi {

// stope_run_cancel() may interrupt a thread anywhere, even one that holds the lock of the handles. So it looks runs up
// here, without a lock. A slot has one token for ever, which its run of the moment uses. Slots are used again, and are
// never freed. A slot that a cancel is looking at is not taken, so that no cancel reaches the next run.
struct CancelSlot {
  std::atomic<const void*> handle = nullptr;
  std::atomic<bool> taken = false;
  std::atomic<int> cancelling = 0;
  CancelToken token;
  CancelSlot* next = nullptr;  // written before the slot is in the list
};

namespace {

std::atomic<CancelSlot*> first_slot = nullptr;

CancelSlot* take_slot() {
  for (CancelSlot* slot = first_slot.load(); slot != nullptr; slot = slot->next) {
    bool taken = false;
    if (!slot->taken.compare_exchange_strong(taken, true)) continue;
    if (slot->cancelling.load() == 0) return slot;
    slot->taken = false;
  }
  auto* const fresh = new CancelSlot;  // NOLINT(cppcoreguidelines-owning-memory): the list never frees one
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

void set(RunOptions& options, const std::string& name, const std::string& value) {
  const auto set = jobs::read_options<jobs::RunSettings>({.texts = {{name, value}}}, "a run");
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

// Copies what fits of a text, ended by NUL, and returns the bytes that all of it needs.
template <class Text>
std::int64_t copied(stope_run* handle, char* to, std::int64_t size, const Text& text_of) {
  try {
    const auto run = find<Run>(handle);
    if (run == nullptr || size < 0) return -1;
    std::string text;
    {
      const std::lock_guard lock(run->mutex);
      text = text_of(*run);
    }
    const std::int64_t needed = std::ssize(text) + 1;
    if (to == nullptr || size == 0) return needed;
    to[text.copy(to, static_cast<std::size_t>(std::min(needed, size) - 1))] = '\0';
    return needed;
  } catch (...) {
    return -1;
  }
}

}  // namespace

Run::~Run() {
  if (slot != nullptr) slot->taken = false;
}

JobRun::JobRun(stope_run* handle) : run_(handle == nullptr ? std::make_shared<Run>() : at<Run>(handle)) {
  while_idle(*run_, [this] {
    options_ = run_->options;
    run_->busy = true;
  });
  options_.warn = [run = run_.get()](std::string_view code, std::string_view text) {
    const std::lock_guard lock(run->mutex);
    run->warnings.emplace_back(code, text);
  };
  options_.report = [run = run_.get()](const Report& done) {
    std::string json = done.to_json();
    const std::lock_guard lock(run->mutex);
    run->report.swap(json);
  };
}

JobRun::~JobRun() {
  const std::lock_guard lock(run_->mutex);
  run_->busy = false;
}

LastingRun lasting_run(stope_run* handle) {
  LastingRun lasting{handle == nullptr ? std::make_shared<Run>() : at<Run>(handle), {}};
  while_idle(*lasting.run, [&] { lasting.options = lasting.run->options; });
  lasting.options.watch = {};
  return lasting;
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
  CancelSlot* const slot = slot_of(run);
  if (slot == nullptr) return;
  ++slot->cancelling;
  if (slot->handle.load() == run) slot->token.cancel();
  --slot->cancelling;
}

stope_code stope_run_resume(stope_run* run, stope_error* error) {
  return guarded(error, [&] {
    const auto to = at<Run>(run);
    while_idle(*to, [&] { to->options.cancel.reset(); });
  });
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

int64_t stope_run_report(stope_run* run, char* to, int64_t size) {
  return copied(run, to, size, [](const Run& of) { return of.report; });
}

int64_t stope_run_warnings(stope_run* run, char* to, int64_t size) {
  return copied(run, to, size, [](const Run& of) {
    stope::jobs::Json list = stope::jobs::Json::array();
    for (const auto& [code, text] : of.warnings) list.push_back({{"code", code}, {"text", text}});
    return stope::jobs::json_text(list);
  });
}

void stope_run_free(stope_run* run) {
  const std::shared_ptr<void> removed = remove_handle(run, Kind::run);
  if (removed == nullptr) return;
  if (CancelSlot* const slot = slot_of(run)) slot->handle = nullptr;
}
