// The loader of the plug-in for files: what it says of one that is missing, foreign, or of another version.
#include "io/files_plugin.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace stope::io {
namespace {

TEST(FilesPlugin, SaysWhereAMissingOneShouldBe) {
  const FilesPlugin plugin = load_files_plugin("/nowhere/libstope_files.so");
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_NE(plugin.reason.find("/nowhere/libstope_files.so"), std::string::npos) << plugin.reason;
}

TEST(FilesPlugin, RefusesAFileThatIsNoLibrary) {
  const std::string path = STOPE_FAKE_FILES_FOLDER "/no_library.so";
  std::ofstream(path) << "text";
  const FilesPlugin plugin = load_files_plugin(path);
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_NE(plugin.reason.find("cannot be loaded"), std::string::npos) << plugin.reason;
}

TEST(FilesPlugin, RefusesALibraryOfSomebodyElse) {
  const FilesPlugin plugin = load_files_plugin("libz.so.1");
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_EQ(plugin.reason, "libz.so.1 is not a plug-in of stope for files");
}

TEST(FilesPlugin, RefusesAnotherVersionWithBothNumbers) {
  const FilesPlugin plugin = load_files_plugin(STOPE_FAKE_FILES_FOLDER "/libstope_fake_files_version.so");
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_NE(plugin.reason.find("has version 999, this library needs " + std::to_string(kStopeFilesVersion)),
            std::string::npos)
      << plugin.reason;
}

TEST(FilesPlugin, RefusesATableOfAnotherSize) {
  const FilesPlugin plugin = load_files_plugin(STOPE_FAKE_FILES_FOLDER "/libstope_fake_files_bytes.so");
  EXPECT_EQ(plugin.functions, nullptr);
  EXPECT_NE(plugin.reason.find("has a table of 8 bytes"), std::string::npos) << plugin.reason;
}

TEST(FilesPlugin, TakesOneThatFits) {
  const FilesPlugin plugin = load_files_plugin(STOPE_FAKE_FILES_FOLDER "/libstope_fake_files_fits.so");
  EXPECT_NE(plugin.functions, nullptr) << plugin.reason;
}

TEST(FilesPlugin, ThrowsTheCodeThatAStreamPutsBeforeItsText) {
  const auto code_of = [](std::string_view said) {
    try {
      throw_files_failure(said, "t.parquet");
    } catch (const Error& error) {
      EXPECT_EQ(error.file(), "t.parquet");
      return error.code();
    }
  };
  EXPECT_EQ(code_of("External error: 1|damaged | here"), ErrorCode::invalid_data);
  EXPECT_EQ(code_of("External error: 2|odd"), ErrorCode::unsupported);
  EXPECT_EQ(code_of("External error: 3|large"), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of("nothing known"), ErrorCode::invalid_data);
}

}  // namespace
}  // namespace stope::io
