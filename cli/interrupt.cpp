// Signals that end a process (cli/interrupt.hpp).
#include "interrupt.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "standard_streams.hpp"
#include "stope/error.hpp"
#include "stope/lost_input.hpp"

namespace stope::cli {
namespace {

// The handler's data. It may only touch memory that is ready, and may only call async-signal-safe functions.
const CancelToken* cancel_token = nullptr;
int null_file = -1;

void on_interrupt(int) {
  const int saved_errno = errno;
  cancel_token->cancel();
  // A job that hangs in a write to a pipe that nobody reads cannot poll the token. From here on stdout leads nowhere,
  // so the write returns and the job reaches its next poll. Half a result is of no use to the reader anyway.
  if (null_file >= 0) ::dup2(null_file, STDOUT_FILENO);
  errno = saved_errno;
}

// Another program has cut an input short that is mapped here: the same end as for an input that cannot be read. The
// work cannot go on, as the thread that reads would fault again. SIGBUS of any other origin does what it does to any
// program.
void on_bus_error(int number, siginfo_t* info, void*) {
  static std::atomic_flag ending = ATOMIC_FLAG_INIT;
  const char* const name = info->si_code == BUS_ADRERR ? lost_input(info->si_addr) : nullptr;
  if (name == nullptr) {
    ::signal(number, SIG_DFL);
    if (info->si_code <= 0) ::raise(number);  // sent by a process: returning would not bring it back
    return;
  }
  while (ending.test_and_set()) ::pause();  // several threads read the same file
  write_to_stderr("stope: ");
  write_to_stderr({name, std::strlen(name)});
  write_to_stderr(": was cut short by another program while it was read\n");
  remove_unfinished_outputs();
  ::_exit(exit_code(ErrorCode::io));
}

bool stdout_is_pipe() {
  struct stat info{};
  return ::fstat(STDOUT_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

}  // namespace

void stop_on_interrupt(const CancelToken& cancel) {
  // Never destroyed: a signal may come while the program leaves, after the destructors of statics.
  static const auto* const token = new CancelToken(cancel);  // NOLINT(cppcoreguidelines-owning-memory)
  cancel_token = token;
  if (stdout_is_pipe()) null_file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR, SIGXCPU}) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;  // as nohup asks
    // A user presses Ctrl-C twice to end the program at once. The others may come twice by themselves: SIGHUP of a lost
    // terminal, SIGTERM of a service manager, SIGXCPU every second. Without SA_RESTART a blocked read or write returns.
    action.sa_flags = number == SIGINT ? static_cast<int>(SA_RESETHAND) : 0;
    ::sigaction(number, &action, nullptr);
  }
  struct sigaction lost{};
  lost.sa_sigaction = on_bus_error;
  lost.sa_flags = SA_SIGINFO;
  sigemptyset(&lost.sa_mask);
  ::sigaction(SIGBUS, &lost, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // EPIPE says it
  ::signal(SIGXFSZ, SIG_IGN);  // EFBIG says it
}

}  // namespace stope::cli
