// Handles and errors of the C ABI: what is refused, what a caller of another version gets, and many threads at once.
// tests/capi/make_misuse.py calls every function with every argument wrong.
#include <atomic>
#include <cstring>
#include <thread>

#include "capi/capi.hpp"

namespace capi_test {
namespace {

TEST(Handles, AreNeverGivenOutTwice) {
  stope_options* first = nullptr;
  stope_options* second = nullptr;
  Failure failure;
  EXPECT_OK(stope_options_new(&first, &failure));
  stope_options_free(first);
  EXPECT_OK(stope_options_new(&second, &failure));
  EXPECT_NE(first, second);
  EXPECT_REFUSED(stope_options_set(first, "a", "b", &failure), STOPE_INVALID_ARGUMENT,
                 "no handle of stope, or was freed");
  stope_options_free(first);  // does nothing
  EXPECT_OK(stope_options_set(second, "a", "b", &failure));
  stope_options_free(second);
}

TEST(Handles, ServeAHundredThousandObjectsInTurn) {
  for (int i = 0; i < 100000; ++i) {
    const JobRun run = [] {
      JobRun made;
      EXPECT_EQ(stope_run_new(made.out(), nullptr), STOPE_OK);
      return made;
    }();
    ASSERT_EQ(stope_run_progress(run, nullptr, nullptr, nullptr), 0);
  }
}

TEST(Handles, MayBeFreedWhileAnotherThreadUsesThem) {
  for (int round = 0; round < 50; ++round) {
    stope_table* table = nullptr;
    const std::vector<double> values = {1, 2, 3, 4};
    const stope_array array = array_of(values.data(), 2, 2);
    ASSERT_EQ(stope_table_from_array(&array, nullptr, nullptr, nullptr, nullptr, &table, nullptr), STOPE_OK);
    std::atomic<bool> started = false;
    std::thread user([&] {
      started = true;
      std::vector<double> copy(4);
      const stope_array to = array_of(copy.data(), 2, 2);
      for (;;) {
        const stope_code code = stope_table_copy(table, 0, 0, &to, nullptr);
        if (code == STOPE_INVALID_ARGUMENT) return;  // freed
        ASSERT_EQ(code, STOPE_OK);
        ASSERT_EQ(copy, values);
      }
    });
    while (!started) std::this_thread::yield();
    stope_table_free(table);
    user.join();
  }
}

TEST(Failures, WriteNoMoreThanTheCallerHasRoomFor) {
  struct {
    stope_error error;
    unsigned char behind[8];
  } small;
  for (const std::size_t room : {std::size_t{4}, std::size_t{8}, offsetof(stope_error, row), sizeof(stope_error)}) {
    std::memset(&small, 0x5a, sizeof small);
    small.error.size = static_cast<std::uint32_t>(room);
    EXPECT_EQ(stope_options_set(nullptr, "a", "b", &small.error), STOPE_INVALID_ARGUMENT);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&small);
    for (std::size_t i = room; i < sizeof small; ++i) ASSERT_EQ(bytes[i], 0x5a) << "byte " << i << " of " << room;
    EXPECT_EQ(small.error.size, room);
  }
  // A caller of a later version has a longer structure: what this library does not know stays as it was.
  std::memset(&small, 0x5a, sizeof small);
  small.error.size = sizeof small;
  EXPECT_EQ(stope_options_set(nullptr, "a", "b", &small.error), STOPE_INVALID_ARGUMENT);
  EXPECT_STREQ(small.error.message, "the options is a null pointer");
  EXPECT_EQ(small.behind[0], 0x5a);
}

TEST(Failures, SayWhereAndCutNoCharacterInTwo) {
  Failure failure;
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "\xc3\xa4";  // two bytes each
  const Options bad = options({{"metric", name.c_str()}});
  const Table table =
      table_of({{"x", STOPE_REGULAR, "real", {}}, {"y", STOPE_LABEL, "nominal", {"a", "b"}}}, {1, 0, 2, 1});
  Model model;
  EXPECT_EQ(stope_fit("classify", table, bad, nullptr, model.out(), &failure), STOPE_INVALID_ARGUMENT);
  const std::string message = failure.message;
  EXPECT_GE(message.size(), sizeof failure.message - 2);
  EXPECT_EQ(static_cast<unsigned char>(message.back()), 0xa4) << "cut inside a character";
  EXPECT_STREQ(failure.option, "metric");

  const Options one_row = options({{"n_neighbors", "2"}});
  EXPECT_OK(stope_fit("neighbors", table, one_row, nullptr, model.out(), &failure));
  const Table other = table_of({{"z", STOPE_REGULAR, "real", {}}}, {1, 2});
  Table found;
  EXPECT_EQ(stope_apply(model, other, nullptr, nullptr, found.out(), &failure), STOPE_INVALID_DATA);
  EXPECT_STREQ(failure.feature, "x");
  EXPECT_EQ(failure.row, -1);
  EXPECT_EQ(failure.bytes, -1);

  Builder builder;
  const char* const values[] = {"a", "b"};
  EXPECT_OK(stope_builder_new(0, nullptr, builder.out(), &failure));
  EXPECT_OK(stope_builder_column(builder, "c", STOPE_REGULAR, "nominal", values, 2, &failure));
  const double codes[] = {0, 1, 2};
  const stope_array block = array_of(codes, 3, 1);
  EXPECT_EQ(stope_builder_append(builder, &block, &failure), STOPE_INVALID_ARGUMENT);
  EXPECT_STREQ(failure.feature, "c");
  EXPECT_EQ(failure.row, 2);
}

TEST(Version, OfTheLibraryIsThatOfTheHeader) {
  EXPECT_EQ(stope_abi(), (STOPE_ABI_MAJOR << 16) | STOPE_ABI_MINOR);
  EXPECT_FALSE(std::string(stope_version()).empty());
  EXPECT_TRUE(Json::parse(stope_devices()).contains("backends"));
  EXPECT_GT(Json::parse(stope_metrics()).size(), 20U);
}

}  // namespace
}  // namespace capi_test
