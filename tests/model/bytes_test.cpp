// Models in memory: the bytes of the file, tables used where the bytes lie, and bytes that nobody should trust.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "io/temporary_folder.hpp"
#include "model/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"

namespace stope {
namespace {

using namespace testing_models;

class ModelBytesTest : public TemporaryFolder {};

std::string bytes_of(const Model& model) {
  std::string bytes;
  write_model([&bytes](std::string_view piece) { bytes += piece; }, model);
  return bytes;
}

// The bytes `shift` behind a multiple of 64, and their owner.
ModelBytes lent(const std::string& bytes, std::size_t shift = 0) {
  const auto size = static_cast<std::int64_t>(bytes.size() + shift);
  const auto owner = std::make_shared<Buffer<char>>(size);
  std::memcpy(owner->data() + shift, bytes.data(), bytes.size());
  return {{owner->data() + shift, bytes.size()}, owner};
}

const char* address_of(const Column& column) {
  return std::visit([](const auto& data) { return reinterpret_cast<const char*>(data.data()); }, column.data);
}

bool lies_in(const Column& column, std::string_view bytes) {
  const char* const at = address_of(column);
  return at >= bytes.data() && at < bytes.data() + bytes.size();
}

const Table& train_of(const Model& model) {
  return std::get<NeighborsModel>(model.fitted).train;
}

TEST_F(ModelBytesTest, AreThoseOfTheFile) {
  for (const Model& model : small_models()) {
    OutputFile file(at("a.stope"));
    write_model(file, model);
    file.commit();
    const std::string bytes = bytes_of(model);
    EXPECT_EQ(bytes, content("a.stope")) << model.kind();
    for (const Tables tables : {Tables::copied, Tables::shared}) {
      const Model read = read_model(lent(bytes), {}, tables);
      EXPECT_EQ(read.kind(), model.kind());
      EXPECT_EQ(bytes_of(read), bytes) << model.kind();
    }
  }
}

TEST_F(ModelBytesTest, SharedColumnsLieInThem) {
  const Model model = neighbors_model(40);
  const ModelBytes bytes = lent(bytes_of(model));
  const Model shared = read_model(bytes, {}, Tables::shared), copied = read_model(bytes, {}, Tables::copied);
  for (const Column& column : train_of(shared).columns) EXPECT_TRUE(lies_in(column, bytes.view)) << column.name;
  for (const Column& column : train_of(copied).columns) EXPECT_FALSE(lies_in(column, bytes.view)) << column.name;
  const Table test = mixed_table(20, true);
  EXPECT_EQ(Predictor(shared).classify(test).confidences, Predictor(model).classify(test).confidences);
}

TEST_F(ModelBytesTest, OddAddressesAreCopied) {
  const Model model = neighbors_model(40);
  for (const std::size_t shift : {1U, 2U, 4U}) {
    const ModelBytes bytes = lent(bytes_of(model), shift);
    const Model read = read_model(bytes, {}, Tables::shared);
    for (const Column& column : train_of(read).columns) {
      EXPECT_EQ(lies_in(column, bytes.view), shift == 4 && column.nominal()) << column.name;
    }
    expect_equal(train_of(read), train_of(read_model(bytes)));
  }
}

TEST_F(ModelBytesTest, LiveAsLongAsTheModel) {
  ModelBytes bytes = lent(bytes_of(neighbors_model(8)));
  const std::weak_ptr<const void> watch = bytes.owner;
  std::optional<Model> shared = read_model(bytes, {}, Tables::shared);
  const Model copied = read_model(bytes);
  bytes = {};
  EXPECT_FALSE(watch.expired());
  Column column = train_of(*shared).columns[0];
  shared.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(column.size(), 8);
  column = {};
  EXPECT_TRUE(watch.expired());
}

TEST_F(ModelBytesTest, NobodyOwnsThemIsRefused) {
  const std::string bytes = bytes_of(pca_model());
  EXPECT_NO_THROW(read_model(ModelBytes{bytes}));
  try {
    read_model(ModelBytes{bytes}, {}, Tables::shared);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

// The mapping of this file at that address, as the system lists it.
bool is_mapped(const char* address, const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    words >> std::hex >> begin >> dash >> end;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at >= begin && at < end) return line.ends_with(path);
  }
  return false;
}

TEST_F(ModelBytesTest, AMappedFileIsUsedWhereItLies) {
  const Model model = neighbors_model(60'000);
  for (const std::string name : {"a.stope", "a.stope.gz"}) {
    OutputFile file(at(name));
    write_model(file, model);
    file.commit();
    const Model shared = read_model(at(name), {}, Tables::shared), copied = read_model(at(name));
    for (const Column& column : train_of(shared).columns) {
      EXPECT_EQ(is_mapped(address_of(column), at(name)), name == "a.stope") << column.name;
      const Storage storage = std::visit([](const auto& data) { return data.storage(); }, column.data);
      EXPECT_EQ(storage, name == "a.stope" ? Storage::file : Storage::memory);
    }
    for (const Column& column : train_of(copied).columns) EXPECT_FALSE(is_mapped(address_of(column), at(name)));
    expect_equal(train_of(shared), train_of(copied));
  }
}

// The mappings of files that have no name any more, as those of tables beyond the memory limit have none.
std::int64_t nameless_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t n = 0;
  for (std::string line; std::getline(maps, line);) n += line.ends_with("(deleted)") ? 1 : 0;
  return n;
}

TEST_F(ModelBytesTest, ManyColumnsBeyondTheMemoryLimitShareAMapping) {
  constexpr std::int64_t kColumns = 2000, kRows = 501;  // an odd number: codes end between two multiples of 8
  Table table;
  table.n_rows = kRows;
  for (std::int64_t i = 0; i < kColumns; ++i) {
    const std::string name = "c" + std::to_string(i);
    if (i % 2 == 0) {
      Buffer<double> numbers(kRows);
      for (std::int64_t row = 0; row < kRows; ++row) numbers[row] = static_cast<double>(i * kRows + row);
      table.columns.push_back({name, ValueType::real, Role::regular, numbers, {}});
    } else {
      Buffer<std::int32_t> codes(kRows);
      for (std::int64_t row = 0; row < kRows; ++row) codes[row] = static_cast<std::int32_t>((i + row) % 3) - 1;
      table.columns.push_back({name, ValueType::polynominal, Role::regular, codes, {"a", "b"}});
    }
  }
  model::Content content;
  content.kind = "test";
  content.tables = {{"wide", table}};
  const std::string bytes = testing_models::bytes_of(content);
  const std::int64_t before = nameless_mappings();
  const model::Content read = model::read_content({bytes, nullptr, "a.stope", 0}, {.memory_limit = 8'000'000});
  EXPECT_EQ(nameless_mappings(), before + 1);
  expect_equal(read.table("wide"), table);
}

TEST_F(ModelBytesTest, CodesOutsideTheirListAreRefusedWithTheirPlace) {
  for (const std::int32_t bad : {3, -2, std::numeric_limits<std::int32_t>::min()}) {
    // Writers refuse such a code, so it is put where the bytes of two models with other codes differ first.
    Model model = neighbors_model(40);
    auto& train = std::get<NeighborsModel>(model.fitted).train;
    auto& codes = std::get<Buffer<std::int32_t>>(train.columns[static_cast<std::size_t>(train.find("colour"))].data);
    codes[17] = 0;
    std::string bytes = bytes_of(model);
    codes[17] = 1;
    const std::string other = bytes_of(model);
    const auto differ = std::mismatch(bytes.begin(), bytes.end(), other.begin()).first - bytes.begin();
    std::memcpy(bytes.data() + differ, &bad, sizeof bad);
    bytes = resealed(std::move(bytes));
    try {
      read_model(ModelBytes{bytes});
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_data);
      EXPECT_EQ(error.feature(), "colour");
      EXPECT_EQ(error.row(), 17);
      EXPECT_NE(std::string(error.what()).find("row 17: code " + std::to_string(bad)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace stope
