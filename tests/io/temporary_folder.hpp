// The fixture of tests that write files. Each has a folder of its own; the folder and any armed fault are gone
// afterwards.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/fault.hpp"

namespace stope {

class TemporaryFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "stope-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    fault::arm_io(0, 0);
    std::filesystem::remove_all(folder_);
  }

  /// Returns the path of the file of that name in the folder.
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  std::string content(const std::string& name) const {
    std::ifstream file(at(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// Writes a file and returns its path.
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }

  /// Returns the names in the folder, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path folder_;
};

}  // namespace stope
