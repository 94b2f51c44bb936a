// The order in which a commit calls the system: a file is on disk before it gets its name, and the folder after that.
// No test that kills the program sees this order, only a power cut does. So fsync() and rename() are replaced here by
// ones that note their calls before they make them.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/temporary_folder.hpp"

namespace {

std::vector<std::string>* noted = nullptr;  // only while a test watches

std::string path_of(int descriptor) {
  char path[PATH_MAX];
  const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
  return length < 0 ? "?" : std::string(path, static_cast<std::size_t>(length));
}

}  // namespace

extern "C" int fsync(int descriptor) {
  if (noted != nullptr) {
    struct stat info{};
    ::fstat(descriptor, &info);
    const std::string size = S_ISDIR(info.st_mode) ? "the folder" : std::to_string(info.st_size) + " bytes";
    noted->push_back("sync " + path_of(descriptor) + ", " + size);
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  if (noted != nullptr) noted->push_back("rename " + std::string(from) + " to " + to);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace stope::io {
namespace {

class CommitOrder : public TemporaryFolder {
 protected:
  /// Returns what was called, in order, with the folder left out and the number of the temporary file for its name.
  template <class Work>
  std::vector<std::string> calls_of(const Work& work) const {
    std::vector<std::string> calls;
    noted = &calls;
    work();
    noted = nullptr;
    std::vector<std::string> temporaries;
    for (std::string& call : calls) {
      for (std::size_t at = 0; (at = call.find(folder_.string())) != std::string::npos;) {
        call.erase(at, folder_.string().size());
      }
      const std::size_t begin = call.find("/.stope-");
      if (begin == std::string::npos) continue;
      const std::size_t end = call.find(".tmp", begin) + 4;
      const std::string name = call.substr(begin, end - begin);
      std::size_t number = 0;
      while (number < temporaries.size() && temporaries[number] != name) ++number;
      if (number == temporaries.size()) temporaries.push_back(name);
      call.replace(begin, end - begin, "T" + std::to_string(number + 1));
    }
    return calls;
  }
};

using Calls = std::vector<std::string>;

TEST_F(CommitOrder, AFileIsSyncedWholeThenRenamedThenTheFolderIsSynced) {
  for (const bool there : {false, true}) {
    if (there) put("out", "old");
    EXPECT_EQ(calls_of([&] {
                AtomicFile file(at("out"));
                file.write("eight by");
                file.commit();
              }),
              (Calls{"sync T1, 8 bytes", "rename T1 to /out", "sync , the folder"}));
  }
}

TEST_F(CommitOrder, OfSeveralFilesAllAreSyncedBeforeTheFirstIsRenamed) {
  EXPECT_EQ(calls_of([&] {
              AtomicFile first(at("a")), second(at("b"));
              first.write("one");
              second.write("three");
              commit_all({&first, &second});
            }),
            (Calls{"sync T1, 3 bytes", "sync T2, 5 bytes", "rename T1 to /a", "rename T2 to /b", "sync , the folder",
                   "sync , the folder"}));
}

TEST_F(CommitOrder, WhatIsNotCommittedIsNeverRenamed) {
  EXPECT_EQ(calls_of([&] { AtomicFile(at("out")).write("half"); }), Calls{});
}

}  // namespace
}  // namespace stope::io
