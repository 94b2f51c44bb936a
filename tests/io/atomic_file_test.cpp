// AtomicFile leaves the file absent, old or complete, whatever fails.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "io/atomic_file.hpp"
#include "io/bytes.hpp"
#include "io/noted_files.hpp"
#include "io/temporary_folder.hpp"
#include "io/without_root.hpp"
#include "stope/io.hpp"
#include "stope/lost_input.hpp"

namespace stope::io {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public TemporaryFolder {};

void expect_io_error(const std::string& part, const std::string& path, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), "io") << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find(path), 0U) << error.what();
  }
}

TEST_F(AtomicFileTest, WritesOnlyOnCommit) {
  {
    AtomicFile file(at("out"));
    file.write("half");
  }
  EXPECT_TRUE(files().empty());
  put("out", "old");
  {
    AtomicFile file(at("out"));
    file.write("half");
  }
  EXPECT_EQ(content("out"), "old");
  {
    AtomicFile file(at("out"));
    file.write("new ");
    file.write("");
    file.write("text");
    EXPECT_EQ(content("out"), "old");
    file.commit();
    EXPECT_EQ(content("out"), "new text");
  }
  EXPECT_EQ(files(), std::vector<std::string>{"out"});
}

TEST_F(AtomicFileTest, AHandlerRemovesWhatIsNotCompleteAndNothingElse) {
  put("in", "text");
  const NotedFile input(at("in"), "text", 4);
  AtomicFile file(at("out"));
  file.write("half");
  EXPECT_EQ(files().size(), 2U);
  remove_unfinished_outputs();
  EXPECT_EQ(files(), (std::vector<std::string>{"in"}));
}

TEST_F(AtomicFileTest, SizesAroundTheBuffer) {
  const std::size_t buffer = std::size_t{1} << 20;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, buffer - 1, buffer, buffer + 1, 3 * buffer + 7}) {
    for (const std::size_t piece : {std::size_t{1000}, buffer, 2 * buffer + 1}) {
      std::string text(size, '\0');
      for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 >> 3);
      AtomicFile file(at("big"));
      for (std::size_t i = 0; i < size; i += piece) file.write(std::string_view(text).substr(i, piece));
      file.commit();
      EXPECT_TRUE(content("big") == text) << size << " in pieces of " << piece;
    }
  }
}

TEST_F(AtomicFileTest, Modes) {
  const mode_t old_mask = ::umask(027);
  {
    AtomicFile file(at("fresh"));
    file.commit();
  }
  put("kept", "old");
  ::chmod(at("kept").c_str(), 0604);
  {
    AtomicFile file(at("kept"));
    file.commit();
  }
  ::umask(old_mask);
  struct stat info{};
  ASSERT_EQ(::stat(at("fresh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  ASSERT_EQ(::stat(at("kept").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0604U);
}

TEST_F(AtomicFileTest, SetUidBitsGo) {
  put("program", "old");
  ASSERT_EQ(::chmod(at("program").c_str(), 06755), 0);
  {
    AtomicFile file(at("program"));
    file.commit();
  }
  struct stat info{};
  ASSERT_EQ(::stat(at("program").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0755U);
}

TEST_F(AtomicFileTest, LinksOfOthersInSharedFoldersAreNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  constexpr uid_t kOther = 12345;
  put("target", "old");
  fs::create_directory(folder_ / "shared");
  fs::create_symlink("../target", folder_ / "shared" / "link");
  ASSERT_EQ(::lchown(at("shared/link").c_str(), kOther, kOther), 0);
  ASSERT_EQ(::chmod(at("shared").c_str(), 01777), 0);
  expect_io_error("another user", at("shared/link"), [&] { AtomicFile file(at("shared/link")); });
  fs::create_symlink("shared/link", folder_ / "own");
  expect_io_error("another user", at("own"), [&] { AtomicFile file(at("own")); });
  EXPECT_EQ(content("target"), "old");
  const auto written = [&] {
    AtomicFile file(at("shared/link"));
    file.write("new");
    file.commit();
    return content("target");
  };
  for (const mode_t mode : {0777U, 01755U}) {  // where it is not sticky, or not shared, nobody expects protection
    put("target", "old");
    ASSERT_EQ(::chmod(at("shared").c_str(), mode), 0);
    EXPECT_EQ(written(), "new") << mode;
  }
  put("target", "old");
  ASSERT_EQ(::chmod(at("shared").c_str(), 01777), 0);
  ASSERT_EQ(::lchown(at("shared/link").c_str(), ::geteuid(), kOther), 0);  // one's own
  EXPECT_EQ(written(), "new");
  put("target", "old");
  ASSERT_EQ(::chown(at("shared").c_str(), kOther, kOther), 0);
  ASSERT_EQ(::lchown(at("shared/link").c_str(), kOther, kOther), 0);  // the folder's owner's
  EXPECT_EQ(written(), "new");
}

// The number of a closed descriptor soon belongs to another file of the process.
TEST_F(AtomicFileTest, WritesToNoFileOfOthersAfterACommit) {
  AtomicFile file(at("out"));
  file.write("all");
  file.commit();
  put("other", "");
  const int other = ::open(at("other").c_str(), O_WRONLY);
  expect_io_error("cannot write", at("out"), [&] { file.write("more"); });
  file.commit();
  EXPECT_EQ(::fcntl(other, F_GETFD), 0) << "another file was closed";
  ::close(other);
  EXPECT_EQ(content("out"), "all");
  EXPECT_EQ(content("other"), "");
}

TEST_F(AtomicFileTest, ACommitWhoseRenameFailsCanBeTriedAgain) {
  AtomicFile file(at("out"));
  file.write("all");
  fs::create_directory(at("out"));
  expect_io_error("cannot rename", at("out"), [&] { file.commit(); });
  put("other", "");
  const int other = ::open(at("other").c_str(), O_WRONLY);
  fs::remove(at("out"));
  file.commit();
  EXPECT_EQ(::fcntl(other, F_GETFD), 0) << "another file was closed";
  ::close(other);
  EXPECT_EQ(content("out"), "all");
}

TEST_F(AtomicFileTest, SymbolicLinksStay) {
  fs::create_directory(folder_ / "sub");
  put("sub/target", "old");
  fs::create_symlink("sub/target", folder_ / "relative");
  fs::create_symlink(folder_ / "relative", folder_ / "twice");
  fs::create_symlink("sub/none", folder_ / "dangling");
  fs::create_symlink("loop", folder_ / "loop");
  {
    AtomicFile file(at("twice"));
    file.write("new");
    file.commit();
  }
  EXPECT_TRUE(fs::is_symlink(folder_ / "twice") && fs::is_symlink(folder_ / "relative"));
  EXPECT_EQ(content("sub/target"), "new");
  {
    AtomicFile file(at("dangling"));
    file.write("fresh");
    file.commit();
  }
  EXPECT_TRUE(fs::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(content("sub/none"), "fresh");
  expect_io_error("symbolic links", at("loop"), [&] { AtomicFile file(at("loop")); });
}

TEST_F(AtomicFileTest, LongNames) {
  const std::string name(255, 'n');  // the longest name of the file system: the temporary name must not be longer
  AtomicFile file(at(name));
  file.write("x");
  file.commit();
  EXPECT_EQ(content(name), "x");
  expect_io_error("too long", at(std::string(256, 'n')), [&] { AtomicFile longer(at(std::string(256, 'n'))); });
}

TEST_F(AtomicFileTest, RefusesAtOnce) {
  put("file", "old");
  expect_io_error("No such file", at("none/out"), [&] { AtomicFile file(at("none/out")); });
  expect_io_error("Is a directory", folder_.string(), [&] { AtomicFile file(folder_.string()); });
  expect_io_error("Is a directory", at("new/"), [&] { AtomicFile file(at("new/")); });
  expect_io_error("Not a directory", at("file/out"), [&] { AtomicFile file(at("file/out")); });
  expect_io_error("No such file", "", [&] { AtomicFile file(""); });
  fs::create_directory(folder_ / "locked");
  ::chmod(at("locked").c_str(), 0500);
  ::chmod(at("file").c_str(), 0400);
  without_root([&] {
    expect_io_error("Permission denied", at("locked/out"), [&] { AtomicFile file(at("locked/out")); });
    expect_io_error("Permission denied", at("file"), [&] { AtomicFile file(at("file")); });
  });
  EXPECT_EQ(content("file"), "old");
}

TEST_F(AtomicFileTest, DevicesAndPipes) {
  {
    AtomicFile file("/dev/null");
    file.write("gone");
    file.commit();
  }
  struct stat info{};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "still a device";
  expect_io_error("No space left", "/dev/full", [] {
    AtomicFile file("/dev/full");
    file.write("x");
    file.commit();
  });

  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content("pipe"); });
  {
    AtomicFile file(at("pipe"));
    file.write("through");
    file.commit();
  }
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_EQ(files(), std::vector<std::string>{"pipe"});
}

TEST_F(AtomicFileTest, DevicesAndPipesThatDoNotOpenAreTold) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/null"), at("pipe")}) {
    fault::arm_io(1, EIO);
    expect_io_error("cannot open", path, [&] { AtomicFile file(path); });
    fault::arm_io(0, 0);
  }
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  at("socket").copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  expect_io_error("Invalid argument", at("socket"), [&] { AtomicFile file(at("socket")); });
  ::close(socket);
}

TEST_F(AtomicFileTest, AUrlIsNoFileUnlessThereIsSuchAFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  expect_error(ErrorCode::unsupported, "file://out: is a URL", [] { AtomicFile file("file://out"); });
  fs::create_directory("file:");
  AtomicFile file("file://out");
  file.write("text");
  file.commit();
  fs::current_path(before);
  EXPECT_EQ(content("file:/out"), "text");
}

TEST_F(AtomicFileTest, BrokenPipeHasItsOwnType) {
  std::signal(SIGPIPE, SIG_IGN);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int reader = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  AtomicFile file(at("pipe"));
  ::close(reader);
  file.write("x");
  EXPECT_THROW(file.commit(), BrokenPipe);
}

TEST_F(AtomicFileTest, StandardOutput) {
  put("log", "before ");
  const int saved = ::dup(STDOUT_FILENO);
  const int log = ::open(at("log").c_str(), O_WRONLY | O_APPEND);
  for (const char* name : {"-", "/dev/stdout"}) {
    std::fflush(stdout);
    ::dup2(log, STDOUT_FILENO);
    {
      AtomicFile file(name);
      file.write("after");
      file.commit();
    }
    ::dup2(saved, STDOUT_FILENO);
  }
  ::close(log);
  ::close(saved);
  EXPECT_EQ(content("log"), "before afterafter") << "appended, not replaced";
}

TEST_F(AtomicFileTest, Descriptors) {
  put("log", "before ");
  const int log = ::open(at("log").c_str(), O_WRONLY | O_APPEND);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  for (const int descriptor : {log, pipe[1]}) {
    for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
      AtomicFile file(folder + std::to_string(descriptor));
      file.write("after");
      file.commit();
    }
  }
  EXPECT_EQ(content("log"), "before afterafter") << "appended, not replaced";
  char received[16];
  EXPECT_EQ(::read(pipe[0], received, sizeof received), 10);
  const std::string reading = "/dev/fd/" + std::to_string(pipe[0]);
  expect_io_error("Bad file descriptor", reading, [&] { AtomicFile file(reading); });
  for (const int descriptor : {log, pipe[0], pipe[1]}) EXPECT_EQ(::close(descriptor), 0) << "left open";
  for (const char* const none :
       {"/proc/self/fd/x", "/proc/self/fd/1x", "/proc/self/fd/-1", "/proc/self/fd/99999999999"}) {
    expect_io_error("No such file", none, [&] { AtomicFile file(none); });
  }
  const std::string closed = "/dev/fd/" + std::to_string(log);
  expect_io_error("Bad file descriptor", closed, [&] { AtomicFile file(closed); });
}

TEST_F(AtomicFileTest, EveryOperationFailsOnce) {
  for (const int error_number : {ENOSPC, EIO, EACCES}) {
    int failures = 0;
    for (int n = 1; n < 20; ++n) {
      put("out", "old");
      fault::arm_io(n, error_number);
      bool failed = false;
      try {
        AtomicFile file(at("out"));
        file.write(std::string(std::size_t{3} << 20, 'x'));
        file.write("y");
        file.commit();
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.code(), ErrorCode::io);
        EXPECT_EQ(std::string(error.what()).find(at("out") + ": cannot "), 0U) << error.what();
      }
      fault::arm_io(0, 0);
      EXPECT_EQ(files(), std::vector<std::string>{"out"}) << n;
      const std::string now = content("out");
      EXPECT_TRUE(now == "old" || now.size() == (std::size_t{3} << 20) + 1) << n;
      if (!failed) {
        EXPECT_NE(now, "old");
        break;
      }
      ++failures;
    }
    EXPECT_EQ(failures, 6) << "open, two writes, sync, rename, sync of the directory";
  }
}

TEST_F(AtomicFileTest, PairsComeOrGoTogether) {
  for (const bool old_files : {false, true}) {
    int failures = 0;
    for (int n = 1; n < 40; ++n) {
      for (const char* name : {"a", "b"}) {
        fs::remove(at(name));
        if (old_files) put(name, "old");
      }
      fault::arm_io(n, EIO);
      bool failed = false;
      try {
        AtomicFile a(at("a"));
        AtomicFile b(at("b"));
        a.write("new");
        b.write("new");
        commit_all({&a, &b});
      } catch (const Error&) {
        failed = true;
      }
      fault::arm_io(0, 0);
      if (failed && !old_files) {
        EXPECT_TRUE(files().empty()) << n;
      } else {
        EXPECT_EQ(files(), (std::vector<std::string>{"a", "b"})) << n;
        EXPECT_EQ(content("a"), failed ? "old" : "new") << n;
        EXPECT_EQ(content("b"), failed ? "old" : "new") << n;
      }
      failures += failed ? 1 : 0;
      if (!failed) break;
    }
    EXPECT_EQ(failures, 10) << "open, write, sync, rename and sync of the directory, twice";
  }
}

TEST_F(AtomicFileTest, SpaceThatTheDiskLacks) {
  constexpr std::int64_t kTooMuch = std::int64_t{1} << 62;
  AtomicFile file(at("out"));
  file.require_space(1);
  expect_io_error("cannot write 4611686018427387904 bytes", at("out"), [&] { file.require_space(kTooMuch); });
  AtomicFile(at("out.gz")).require_space(kTooMuch);  // it may shrink
  AtomicFile("/dev/null").require_space(kTooMuch);
}

TEST_F(AtomicFileTest, Compressed) {
  std::string text;
  for (int i = 0; i < repeated(300000, 60000); ++i) text += std::to_string(i) + ",";
  for (const char* name : {"out.gz", "out.zst", "OUT.GZ"}) {
    for (const std::size_t piece : {std::size_t{7}, std::size_t{1} << 16, text.size()}) {
      AtomicFile file(at(name));
      for (std::size_t i = 0; i < text.size(); i += piece) file.write(std::string_view(text).substr(i, piece));
      file.commit();
      EXPECT_LT(fs::file_size(at(name)), text.size() / 2);
      EXPECT_TRUE(load_bytes(at(name), {}).view == text) << name << " " << piece;
    }
    const std::string first = content(name);
    AtomicFile again(at(name));
    again.write(text);
    again.commit();
    EXPECT_EQ(content(name), first) << "the same bytes every time";
    AtomicFile empty(at(name));
    empty.commit();
    EXPECT_EQ(load_bytes(at(name), {}).view, "") << name;
  }
}

TEST_F(AtomicFileTest, ManyAtOnce) {
  std::vector<std::unique_ptr<AtomicFile>> open;
  for (int i = 0; i < 50; ++i) open.push_back(std::make_unique<AtomicFile>(at("same")));
  EXPECT_EQ(files().size(), 50U);
  for (std::size_t i = 0; i < open.size(); ++i) {
    open[i]->write(std::to_string(i));
    open[i]->commit();
  }
  open.clear();
  EXPECT_EQ(files(), std::vector<std::string>{"same"});
  EXPECT_EQ(content("same"), "49");
}

}  // namespace
}  // namespace stope::io
