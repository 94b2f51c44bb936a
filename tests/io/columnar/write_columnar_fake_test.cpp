// Parquet and Arrow files that a fake plug-in writes (fake_files_plugin.cpp): what fails there or in the output is
// told.
#include <gtest/gtest.h>

#include <string>

#include "environment.hpp"
#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "stope/files.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

class WriteColumnar : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    ASSERT_TRUE(files_info().available) << files_info().reason;
  }

  // The loader looks once in a process.
  const ForcedVariable plugin_{"STOPE_FILES_PLUGIN", STOPE_FAKE_FILES_FOLDER "/libstope_fake_files_fits.so"};
};

Table table_of(const std::string& name, ValueType type = ValueType::real, double value = 1) {
  Table table;
  table.n_rows = 2;
  table.columns = {make_numeric(name, {value, 2})};
  table.columns[0].type = type;
  return table;
}

TEST_F(WriteColumnar, WhatThePlugInRefusesIsToldWithTheFile) {
  for (const char* const step : {"create", "append", "finish"}) {
    expect_error(ErrorCode::unsupported, "t.parquet: " + std::string(step),
                 [&] { write_table(at("t.parquet"), table_of(step)); });
    OutputFile file(at("t.arrow"));
    TablePartsWriter writer(file, 2);
    expect_error(ErrorCode::unsupported, "t.arrow: " + std::string(step), [&] {
      writer.append(table_of(step));
      writer.finish();
    });
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(WriteColumnar, AnOutputThatFailsIsToldInItsOwnWords) {
  write_table(at("t.parquet"), table_of("x"));
  EXPECT_EQ(content("t.parquet"), "rowsrows");
  OutputFile file("/dev/full");
  TablePartsWriter writer(file, 2, {.format = Format::parquet});
  expect_error(ErrorCode::io, "/dev/full: cannot write: No space left on device",
               [&] { writer.append(table_of("much")); });
}

TEST_F(WriteColumnar, DatesThatBecomeFinerLaterAreRefused) {
  OutputFile file(at("t.parquet"));
  TablePartsWriter writer(file, 4);
  writer.append(table_of("day", ValueType::date, 1));
  expect_error(ErrorCode::unsupported,
               "column 'day': its dates are in days in one part of the table and finer in another",
               [&] { writer.append(table_of("day", ValueType::date, 1.5)); });
}

}  // namespace
}  // namespace stope
