// Sheets whose text a fake plug-in gives (fake_files_plugin.cpp): what it may not give is refused, and messages name
// rows of the sheet.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "environment.hpp"
#include "expect_error.hpp"
#include "io/files_plugin.hpp"
#include "io/temporary_folder.hpp"
#include "stope/files.hpp"
#include "stope/io.hpp"
#include "stope/place_of_cell.hpp"
#include "stope/table_files.hpp"

namespace stope {
namespace {

class SheetTest : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    ASSERT_TRUE(files_info().available) << files_info().reason;
    workbook_ = put("t.xlsx", "PK\x03\x04" + std::string(26, ' ') + "xl/workbook.xml");
  }
  Table read(const std::string& sheet) const { return read_table(workbook_, {.sheet = sheet}); }

  // The loader looks once in a process.
  const ForcedVariable plugin_{"STOPE_FILES_PLUGIN", STOPE_FAKE_FILES_FOLDER "/libstope_fake_files_fits.so"};
  std::string workbook_;
};

TEST_F(SheetTest, TheTextOfASheetIsATable) {
  const Table table = read("text");
  EXPECT_EQ(table.n_rows, 3);
  EXPECT_EQ(table.columns[0].values.names(), (std::vector<std::string>{"1", "three", "two\nlines"}));
}

TEST_F(SheetTest, WhatIsNoTextOfASheetIsRefused) {
  for (const char* const sheet : {"none", "two rows", "numbers", "ends"}) {
    expect_error(ErrorCode::internal, "t.xlsx: the plug-in for files gives no text of a sheet", [&] { read(sheet); });
  }
  expect_error(ErrorCode::invalid_data, "t.xlsx: the disk is on fire", [&] { read("fails"); });
  expect_error(ErrorCode::unsupported, "t.xlsx: the workbook has a password", [&] { read("unread"); });
}

TEST_F(SheetTest, OptionsThatNoSheetCanHaveAreRefused) {
  expect_error(ErrorCode::invalid_argument, "skip_lines is -1",
               [&] { read_table(workbook_, {.skip_lines = -1, .sheet = "text"}); });
  expect_error(ErrorCode::invalid_argument, "the name of a sheet has no line break", [&] { read("a\nskip=1"); });
}

TEST_F(SheetTest, PointsAreDecimalMarksWhateverMarksThousands) {
  ReadOptions options{.sheet = "points"};
  for (const char mark : {'.', ',', '\''}) {
    options.thousands = mark;
    EXPECT_EQ(read_table(workbook_, options).columns[0].at(0), 1.5) << mark;
  }
}

TEST_F(SheetTest, MessagesNameTheRowOfTheSheet) {
  ReadOptions options{.sheet = "text"};
  options.numeric = {"x"};
  expect_error(ErrorCode::invalid_data, "t.xlsx:3: column 'x'", [&] { read_table(workbook_, options); });
  EXPECT_EQ(place_of_cell(workbook_, {.sheet = "text"}, 2, "n").line, 4);
  EXPECT_EQ(place_of_cell(workbook_, {.sheet = "text"}, 3, "n").line, 0) << "there is no such row";
  // Where the text breaks off, and where nothing has a place.
  expect_error(ErrorCode::invalid_data, "t.xlsx: ", [&] { read("open"); });
  expect_error(ErrorCode::invalid_data, "t.xlsx: the file is empty", [&] { read("empty"); });
}

TEST_F(SheetTest, AnArchiveThatBreaksOffIsNoWorkbook) {
  expect_error(ErrorCode::unsupported, "is a ZIP archive", [&] { read_table(put("t.data", "PK\x03\x04xl/")); });
}

TEST_F(SheetTest, APlugInWithoutAReaderOfSheetsSaysSo) {
  auto& functions = const_cast<StopeFilesFunctions&>(*io::files_plugin().functions);
  const auto reader = std::exchange(functions.read_sheet, nullptr);
  expect_error(ErrorCode::unsupported, "t.xlsx: is a workbook, and the plug-in for files reads none",
               [&] { sheets_of(workbook_); });
  functions.read_sheet = reader;
}

}  // namespace
}  // namespace stope
