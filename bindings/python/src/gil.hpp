// Work without the GIL that ends before the interpreter does.
#pragma once

#include <nanobind/nanobind.h>

#include <list>
#include <optional>

#include "stope/run.hpp"

namespace stope::python {

/// Lets go of the GIL as long as it lives; use it instead of nanobind::gil_scoped_release.
///
/// A thread that asks a dying interpreter for the GIL is ended by it, and takes the process with it if C++ stands on
/// its stack. Only daemon threads meet that: all others have ended by then. So the interpreter's end cancels what runs
/// in such threads and waits for it, and afterwards the constructor raises SystemExit in them, which nobody sees.
class WithoutGil {
 public:
  WithoutGil() : WithoutGil(std::nullopt) {}
  /// The interpreter's end cancels `cancel`.
  explicit WithoutGil(const CancelToken& cancel) : WithoutGil(std::optional(cancel)) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  struct Work {
    int process;  // a forked child does not wait for its parent's threads
    std::optional<CancelToken> cancel;
  };

 private:
  explicit WithoutGil(std::optional<CancelToken> cancel);

  std::list<Work>::iterator place_;
  PyThreadState* state_ = nullptr;
};

/// Whether the interpreter has begun to end, and this thread is one that it leaves behind.
bool left_behind();

/// Raises SystemExit.
[[noreturn]] void end_thread();

/// Whether this is Python's main thread: the one that gets signals.
bool on_main_thread();

/// Registers with atexit.
void bind_gil(nanobind::module_& module);

}  // namespace stope::python
