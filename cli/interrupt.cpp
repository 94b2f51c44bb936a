// Signals that end a process (cli/interrupt.hpp).
#include "interrupt.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

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
  ::signal(SIGPIPE, SIG_IGN);  // EPIPE says it
  ::signal(SIGXFSZ, SIG_IGN);  // EFBIG says it
}

}  // namespace stope::cli
