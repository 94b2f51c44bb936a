#include "gil.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

namespace nb = nanobind;

namespace stope::python {
namespace {

constexpr int kWaits = 500;  // of 10 ms. Jobs end within half a second of their cancellation.

// What runs without the GIL. The GIL guards the list, a lock where there is none.
struct State {
  nb::ft_mutex mutex;
  std::list<WithoutGil::Work> works;
  bool interpreter_ends = false;
  unsigned long main_thread = 0;
};

State& state() {
  static State the_one;
  return the_one;
}

bool cancel_all() {
  const nb::ft_lock_guard lock(state().mutex);
  bool any = false;
  for (const WithoutGil::Work& work : state().works) {
    if (work.process != getpid()) continue;
    if (work.cancel) work.cancel->cancel();
    any = true;
  }
  return any;
}

void end_all() {
  state().interpreter_ends = true;
  for (int i = 0; cancel_all() && i < kWaits; ++i) {
    const nb::gil_scoped_release released;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

}  // namespace

WithoutGil::WithoutGil(std::optional<CancelToken> cancel) {
  if (left_behind()) end_thread();
  {
    const nb::ft_lock_guard lock(state().mutex);
    place_ = state().works.insert(state().works.end(), Work{getpid(), std::move(cancel)});
  }
  state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  PyEval_RestoreThread(state_);
  const nb::ft_lock_guard lock(state().mutex);
  state().works.erase(place_);
}

bool left_behind() {
  return state().interpreter_ends && !on_main_thread();
}

void end_thread() {
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

// This asks no function of Python's: it could let another thread end the interpreter, with C++ on this thread's stack.
bool on_main_thread() {
  return PyThread_get_thread_ident() == state().main_thread;
}

void bind_gil(nb::module_&) {
  state().main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  const auto become_main = [] { state().main_thread = PyThread_get_thread_ident(); };
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") = nb::cpp_function(become_main));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_all));
}

}  // namespace stope::python
