// Bytes as a model file, unchanged and with a valid checksum, give a model that predicts, or a stope::Error. It is the
// same model, whether its columns are copied or lie in the bytes. Saved and loaded again it is the same bytes, and
// predicts the same for rows of special values. The mutator changes parts of a file and seals it (mutate_model.hpp).
#include <cstring>
#include <memory>

#include "fuzz_table.hpp"
#include "io/bytes.hpp"
#include "model/container.hpp"
#include "model/kinds.hpp"
#include "mutate_model.hpp"
#include "stope/model.hpp"
#include "stope/tree_format.hpp"

namespace {

using namespace stope;

template <class Work>
void no_surprise(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    fuzz::require(error.code() != ErrorCode::internal && error.what()[0] != '\0');
  }
}

void read(const std::string& bytes) {
  no_surprise([&] {
    const model::Content content = model::read_content({bytes, nullptr, "fuzz", 0}, fuzz::bounded_run());
    for (const model::NamedTable& named : content.tables) named.table.validate();
    // A model that was read is written as the same bytes.
    std::string again;
    model::write_content(content, [&again](std::string_view piece) { again += piece; });
    fuzz::require(again == bytes);
    no_surprise([&] {
      const Model used = model::model_of(content, {});
      if (const auto* tree = std::get_if<DecisionTree>(&used.fitted)) format_tree(*tree, TreeFormat::rules);
    });
  });
}

// Everything that is written from a model, so that two models can be compared.
std::string written(const Model& model) {
  std::string bytes;
  write_model([&bytes](std::string_view piece) { bytes += piece; }, model);
  return bytes;
}

// Rows with the columns of the table that the model was fitted to; the cells follow from the seed.
Table rows_for(const Table& outline, unsigned seed) {
  constexpr std::int64_t kRows = 5;
  fuzz::Choices choices(seed);
  Table table;
  table.n_rows = kRows;
  for (const Column& like : outline.columns) {
    Column column = like;
    if (like.nominal()) {
      const std::int64_t n = std::ssize(like.values);
      Buffer<std::int32_t> codes(kRows);
      for (std::int64_t row = 0; row < kRows; ++row) {
        const bool missing = n == 0 || choices.one_in(6);
        codes[row] = missing ? kMissingCode : static_cast<std::int32_t>(choices.below(static_cast<std::size_t>(n)));
      }
      column.data = std::move(codes);
    } else {
      Buffer<double> numbers(kRows);
      for (std::int64_t row = 0; row < kRows; ++row) {
        numbers[row] = choices.one_in(3) ? choices.of(fuzz::kNumbers) : static_cast<double>(choices.below(8));
      }
      column.data = std::move(numbers);
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

void add(std::string& text, double value) {
  const double one_nan = std::isnan(value) ? std::nan("") : value;
  text.append(reinterpret_cast<const char*>(&one_nan), sizeof one_nan);
}

std::string prediction(const Predictor& predictor, const Table& rows) {
  std::string text;
  switch (predictor.gives()) {
    case Predictor::Gives::classes: {
      const Classification found = predictor.classify(rows, fuzz::bounded_run());
      fuzz::require(std::ssize(found.codes) == rows.n_rows);
      for (const std::int32_t code : found.codes) {
        fuzz::require(code >= kMissingCode && code < std::ssize(found.classes));
        text += std::to_string(code) + " ";
      }
      for (const double confidence : found.confidences) add(text, confidence);
      break;
    }
    case Predictor::Gives::numbers:
      for (const double number : predictor.regress(rows, fuzz::bounded_run())) add(text, number);
      break;
    case Predictor::Gives::neighbors: {
      const Neighbors found = predictor.neighbors(rows, fuzz::bounded_run());
      for (const std::int64_t row : found.indices) text += std::to_string(row) + " ";
      for (const double distance : found.distances) add(text, distance);
      break;
    }
    case Predictor::Gives::table: {
      const Table made = predictor.transform(rows, fuzz::bounded_run());
      made.validate();
      for (const Column& column : made.columns) {
        text += column.name + " ";
        for (std::int64_t row = 0; row < made.n_rows; ++row) add(text, column.at(row));
      }
    }
  }
  return text;
}

// The bits of what the model gives for the rows, or the error.
std::string answer(const Model& model, const Table& rows) {
  try {
    return prediction(Predictor(model, fuzz::bounded_run()), rows);
  } catch (const Error& error) {
    fuzz::require(error.code() != ErrorCode::internal && error.what()[0] != '\0');
    return "error " + std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
}

void read_in_place(const std::string& bytes) {
  no_surprise([&] {
    const auto owner = std::make_shared<const std::string>(bytes);
    const Model copied = read_model(ModelBytes{bytes}, fuzz::bounded_run());
    const Model shared = read_model(ModelBytes{*owner, owner}, fuzz::bounded_run(), Tables::shared);
    const std::string saved = written(copied);
    fuzz::require(saved == written(shared));
    std::optional<Model> loaded;
    try {
      loaded = read_model(ModelBytes{saved}, fuzz::bounded_run());
    } catch (const Error&) {
      fuzz::require(false);  // what was saved can be loaded
    }
    fuzz::require(written(*loaded) == saved);
    unsigned seed = 0;
    std::memcpy(&seed, bytes.data() + bytes.size() - sizeof seed, sizeof seed);  // of the checksum
    const Table rows = rows_for(copied.columns, seed);
    const std::string expected = answer(copied, rows);
    fuzz::require(answer(shared, rows) == expected);
    fuzz::require(answer(*loaded, rows) == expected);
    answer(copied, copied.columns);  // no rows
  });
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return stope::fuzz::mutate_model(data, size, most, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t n_one, const std::uint8_t* two,
                                                 std::size_t n_two, std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  return stope::fuzz::cross_models({reinterpret_cast<const char*>(one), n_one},
                                   {reinterpret_cast<const char*>(two), n_two}, out, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string sealed = stope::fuzz::resealed(bytes);
  read(bytes);
  read_in_place(bytes);
  if (sealed == bytes) return 0;
  read(sealed);
  read_in_place(sealed);
  return 0;
}
