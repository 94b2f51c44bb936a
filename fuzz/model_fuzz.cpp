// Random bytes as a model file, unchanged and with a valid checksum, give a model that predicts, or a stope::Error. It
// is the same model, whether its columns are copied or lie in the bytes.
#include <cstring>
#include <memory>

#include "fuzz_table.hpp"
#include "io/bytes.hpp"
#include "model/checksum.hpp"
#include "model/container.hpp"
#include "model/kinds.hpp"
#include "stope/model.hpp"
#include "stope/tree_format.hpp"

namespace {

using namespace stope;

// Makes size and checksum valid, so that the fuzzer reaches the code behind their checks.
std::string resealed(std::string bytes) {
  if (bytes.size() < 32) return bytes;
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::memcpy(bytes.data(), model::kMagic.data(), model::kMagic.size());
  std::memcpy(bytes.data() + 16, &size, sizeof size);
  model::Crc64 sum;
  sum.add(std::string_view(bytes).substr(0, bytes.size() - 8));
  const std::uint64_t value = sum.value();
  std::memcpy(bytes.data() + bytes.size() - 8, &value, sizeof value);
  return bytes;
}

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
    fuzz::require(again.size() == bytes.size());
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

void read_in_place(const std::string& bytes) {
  no_surprise([&] {
    const auto owner = std::make_shared<const std::string>(bytes);
    const Model copied = read_model(ModelBytes{bytes}, fuzz::bounded_run());
    const Model shared = read_model(ModelBytes{*owner, owner}, fuzz::bounded_run(), Tables::shared);
    fuzz::require(written(copied) == written(shared));
    no_surprise([&] {
      const Predictor predictor(shared, fuzz::bounded_run());
      const Table& rows = shared.columns;
      switch (predictor.gives()) {
        case Predictor::Gives::classes: predictor.classify(rows, fuzz::bounded_run()); break;
        case Predictor::Gives::numbers: predictor.regress(rows, fuzz::bounded_run()); break;
        case Predictor::Gives::neighbors: predictor.neighbors(rows, fuzz::bounded_run()); break;
        case Predictor::Gives::table: predictor.transform(rows, fuzz::bounded_run()); break;
      }
    });
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& each : {bytes, resealed(bytes)}) {
    read(each);
    read_in_place(each);
  }
  return 0;
}
