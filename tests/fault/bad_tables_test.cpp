// Tables that no reader would make, handed to every job of the public API: codes that are no values, lengths that lie,
// storage that its type contradicts. Each is refused by an Error that names the column, and the row of a code.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "expect_error.hpp"
#include "fault/every_job.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr std::int64_t kRow = 7;

Column& column_of(Table& table, const std::string& name) {
  return table.columns[static_cast<std::size_t>(table.find(name))];
}

void expect_refused(const every_job::Job& job, const Table& table, const std::vector<std::string>& named) {
  SCOPED_TRACE(job.name);
  try {
    job.run(table);
    ADD_FAILURE() << "took the table";
  } catch (const Error& error) {
    const bool refused = error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::invalid_data;
    EXPECT_TRUE(refused) << error.what();
    for (const std::string& what : named) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << "no Error: " << error.what();
  }
}

/// The parameter: the number of threads.
class BadTables : public testing::TestWithParam<int> {
 protected:
  const std::vector<every_job::Job> jobs_ = every_job::Jobs({.threads = GetParam(), .device = "cpu"}).all();
};

INSTANTIATE_TEST_SUITE_P(, BadTables, testing::Values(1, 3));

TEST_P(BadTables, EveryJobTakesAGoodTable) {
  for (const every_job::Job& job : jobs_) {
    SCOPED_TRACE(job.name);
    EXPECT_NO_THROW(job.run(every_job::good_table()));
  }
}

TEST_P(BadTables, ACodeThatIsNoValueIsRefusedByEveryJobThatReadsIt) {
  for (const every_job::Job& job : jobs_) {
    for (const std::string& name : job.codes_of) {
      const std::int64_t n_values =
          every_job::good_table().columns[static_cast<std::size_t>(every_job::good_table().find(name))].values.size();
      for (const std::int64_t code :
           {std::int64_t{kUnseenCode}, std::int64_t{-3}, n_values, std::int64_t{INT32_MAX}, std::int64_t{INT32_MIN}}) {
        Table table = every_job::good_table();
        std::get<Buffer<std::int32_t>>(column_of(table, name).data)[kRow] = static_cast<std::int32_t>(code);
        SCOPED_TRACE(name + " has code " + std::to_string(code));
        expect_refused(job, table, {"'" + name + "'", "row 7", "code " + std::to_string(code)});
      }
    }
  }
}

TEST_P(BadTables, LengthsThatLieAreRefusedByEveryJob) {
  for (const every_job::Job& job : jobs_) {
    if (job.reads != every_job::Reads::table) continue;
    for (const std::string name : {"x", "z", "c", "y", "g", "w"}) {
      Table table = every_job::good_table();
      Table shorter = table.take({0, 1, 2});
      column_of(table, name).data = column_of(shorter, name).data;
      SCOPED_TRACE("a short column " + name);
      expect_refused(job, table, {"'" + name + "'", "3 rows"});
    }
    for (const std::int64_t n_rows : {std::int64_t{-1}, std::int64_t{13}, std::int64_t{11}, INT64_MAX, INT64_MIN}) {
      Table table = every_job::good_table();
      table.n_rows = n_rows;
      SCOPED_TRACE("n_rows " + std::to_string(n_rows));
      expect_refused(job, table, {std::to_string(n_rows)});
    }
  }
}

TEST_P(BadTables, StorageThatItsTypeContradictsIsRefusedByEveryJob) {
  for (const every_job::Job& job : jobs_) {
    if (job.reads != every_job::Reads::table) continue;
    for (const std::string name : {"x", "c", "y", "w"}) {
      Table table = every_job::good_table();
      Column& column = column_of(table, name);
      column.type = column.nominal() ? ValueType::real : ValueType::nominal;
      SCOPED_TRACE(name);
      expect_refused(job, table, {"'" + name + "'"});
    }
  }
}

TEST_P(BadTables, ValuesThatLieNowhereAreRefusedByEveryJob) {
  for (const every_job::Job& job : jobs_) {
    if (job.reads != every_job::Reads::table) continue;
    for (const std::string name : {"x", "c", "y", "w"}) {
      Table table = every_job::good_table();
      std::visit(
          [](auto& values) {
            using Values = std::decay_t<decltype(values)>;
            values = Values::borrow(nullptr, values.size(), nullptr);
          },
          column_of(table, name).data);
      SCOPED_TRACE(name);
      expect_refused(job, table, {"'" + name + "'", "null pointer"});
    }
  }
}

TEST(BadTablesTake, ARowThatIsNotThereIsRefused) {
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{12}, INT64_MAX, INT64_MIN}) {
    expect_error(ErrorCode::invalid_argument, "there is no row " + std::to_string(row) + " among 12 to take",
                 [&] { every_job::good_table().take({0, row}); });
  }
}

}  // namespace
}  // namespace stope
