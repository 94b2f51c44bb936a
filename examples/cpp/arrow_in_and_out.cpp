// Plays the other side of classify_arrow (arrow_classify.cpp): gives two tables as streams of batches and reads the
// answer from Arrow's structures, as a program in any language would.
//   arrow_in_and_out TRAIN TEST TARGET
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include "stope/stope.hpp"

extern "C" int classify_arrow(ArrowArrayStream* train, ArrowArrayStream* test, const char* target,
                              ArrowArrayStream* result, char* message, std::int64_t room);

namespace {

// The string at a row of a dictionary-encoded column: index, then two offsets into the text.
std::string string_at(const ArrowArray& column, std::int64_t row) {
  const auto* const indices = static_cast<const std::int32_t*>(column.buffers[1]);
  const ArrowArray& dictionary = *column.dictionary;
  const auto* const offsets = static_cast<const std::int32_t*>(dictionary.buffers[1]);
  const std::int64_t value = dictionary.offset + indices[column.offset + row];
  const auto* const text = static_cast<const char*>(dictionary.buffers[2]);
  return {text + offsets[value], text + offsets[value + 1]};
}

int count_right(ArrowArrayStream& stream, const stope::Table& test) {
  const stope::Column& truth = test.columns[static_cast<std::size_t>(test.find(stope::Role::label))];
  std::int64_t row = 0;
  int right = 0;
  for (ArrowArray batch{}; stream.get_next(&stream, &batch) == 0 && batch.release != nullptr; batch.release(&batch)) {
    for (std::int64_t i = 0; i < batch.length; ++i, ++row) {
      right += string_at(*batch.children[0], i) == truth.values[truth.codes()[row]] ? 1 : 0;
    }
  }
  return right;
}

int run(const std::string& train_file, const std::string& test_file, const std::string& target) {
  stope::ReadOptions read;
  read.target = target;
  read.target_is_nominal = true;
  const stope::Table test = stope::read_table(test_file, read);
  ArrowArrayStream train_stream{}, test_stream{}, result{};
  stope::export_arrow(stope::read_table(train_file, read), &train_stream, 16);  // batches of 16 rows
  stope::export_arrow(test, &test_stream);

  char message[200];
  if (classify_arrow(&train_stream, &test_stream, target.c_str(), &result, message, sizeof message) != 0) {
    std::cerr << message << '\n';
    return 1;
  }
  std::cout << count_right(result, test) << " of " << test.n_rows << " right, through Arrow\n";
  result.release(&result);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: arrow_in_and_out TRAIN TEST TARGET\n";
    return 2;
  }
  try {
    return run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
