// The jobs that other programs build on: memory of the caller's, Arrow, files and bytes, lists, models of every kind.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fault/job.hpp"
#include "stope/stope.hpp"

namespace stope::every_job {

/// A file without a name, gone with its last owner.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("stope-test", MFD_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (descriptor_ < 0 || ::write(descriptor_, bytes.data(), bytes.size()) != size) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Structures of Arrow, released with their last owner if the job did not take them.
template <class Structure>
std::shared_ptr<Structure> released_at_the_end() {
  return {new Structure{}, [](Structure* structure) {
            if (structure->release != nullptr) structure->release(structure);
            delete structure;
          }};
}

// The calls allocate nothing themselves: what fails in them fails in the library.

inline std::vector<Job> array_jobs(const RunOptions& run) {
  const auto floats = std::make_shared<std::vector<float>>();
  const auto doubles = std::make_shared<std::vector<double>>();
  for (int i = 0; i < 24; ++i) {
    floats->push_back(static_cast<float>(i * i % 7));
    doubles->push_back(i * i % 5);
  }
  const ArrayView strided{floats->data(), ElementType::float32, 12, 2, 1, 12, -1, nullptr, floats};
  const ArrayView lent{doubles->data(), ElementType::float64, 12, 2};
  const ArrayView shared{doubles->data(), ElementType::float64, 12, 2, 2, 1, -1, nullptr, doubles};
  const KnnIndex index = KnnIndex::fit(shared, {}, run);
  const KnnIndex mixed = KnnIndex::fit(good_table(), {}, run);
  const Schema two = {{{.name = "x"}, {.name = "c", .type = ValueType::nominal, .values = {"0", "1", "2", "3", "4"}}},
                      {}};
  const std::vector<std::string> names = {"x", "z"};
  const GramOptions shifted{.shift = {1, 2}, .scale = {1, 3}};
  const auto rows = std::make_shared<std::vector<std::int64_t>>(36);
  const auto distances = std::make_shared<std::vector<double>>(36);
  const NeighborArrays out{rows->data(), distances->data()};
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name, const Call& call) {
    jobs.push_back({name, {}, [call](const Table&) { return call; }, Reads::nothing});
  };
  add("table_of, copied", [=] { table_of(lent, names, run); });
  add("table_of, shared", [=] { table_of(strided, {}, run); });
  jobs.push_back({"TableBuilder",
                  {},
                  [=](const Table&) -> Call {
                    return [=, schema = std::make_shared<Schema>(two)] {
                      TableBuilder builder(std::move(*schema), 5, run);
                      for (int i = 0; i < 3; ++i) builder.append(lent);
                      builder.finish();
                      builder.append(lent);
                      builder.finish();
                    };
                  },
                  Reads::nothing});
  add("KnnIndex::fit, an array that is copied", [=] { KnnIndex::fit(strided, {}, run); });
  add("KnnIndex::fit, an array that is shared", [=] { KnnIndex::fit(shared, {}, run).train(); });
  add("kneighbors of an array", [=] { index.kneighbors(strided, {.n_neighbors = 3}, run); });
  add("kneighbors of an array, into arrays",
      [=, keep = std::pair(rows, distances)] { index.kneighbors(strided, {.n_neighbors = 3}, run, out); });
  const KnnClassifier classifier = KnnClassifier::fit(index, good_table().columns[4]);
  const KnnRegressor regressor = KnnRegressor::fit(index, good_table().columns[0]);
  add("KnnClassifier::predict of an array", [=] { classifier.predict(strided, {.n_neighbors = 3}, run); });
  add("KnnRegressor::predict of an array", [=] { regressor.predict(strided, {.n_neighbors = 3}, run); });
  add("radius_neighbors of an array", [=] { index.radius_neighbors(strided, 2.0, {}, run); });
  add("GramOperator", [=] {
    GramOperator gram(lent, shifted, run);
    std::array<double, 2> x = {1, 2}, z{};
    std::array<double, 12> y{};
    gram.multiply(x, y);
    gram.multiply_transposed(y, z);
    gram.gram(x, z);
    to_json(gram.report());
    to_text(gram.report());
  });
  add("GramOperator, an array that is copied", [=] {
    const std::array<double, 4> x = {1, 2, 3, 4};
    std::array<double, 4> z{};
    GramOperator(strided, {}, run).gram(x, z, 2);
  });
  add("check_gram", [=] {
    const std::array<float, 2> x = {1, 2}, z = {3, 4};
    check_gram(shared, x, z, run);
  });
  jobs.push_back(
      {"kneighbors into arrays", {"c", "d"}, [=, keep = std::pair(rows, distances)](const Table& table) -> Call {
         return [=] { mixed.kneighbors(table, {.n_neighbors = 3}, run, out); };
       }});
  return jobs;
}

inline std::vector<Job> list_jobs(const RunOptions& run) {
  const Table good = good_table();
  const Neighbors lists = KnnIndex::fit(good, {}, run).kneighbors(good, {.n_neighbors = 3}, run);
  const std::vector<Neighbors> parts = {lists, lists};
  const Column& label = good.columns[4];
  std::vector<std::int32_t> codes;
  std::vector<double> targets;
  for (std::int64_t row = 0; row < good.n_rows; ++row) {
    codes.push_back(label.codes()[row]);
    targets.push_back(static_cast<double>(row));
  }
  const Values classes = label.values;
  const std::vector<double> weights(lists.indices.size(), 0.5);
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name, const Call& call) {
    jobs.push_back({name, {}, [call](const Table&) { return call; }, Reads::nothing});
  };
  add("vote_classes", [=] { vote_classes(lists, classes, {.codes = codes}, {.n_neighbors = 2}, run); });
  add("vote_classes by weights", [=] {
    vote_classes(lists, classes, {.codes = codes, .sample_weights = targets}, {.list_weights = weights}, run);
  });
  add("vote_classes of RapidMiner",
      [=] { vote_classes(lists, classes, {.codes = codes}, {.n_neighbors = 3, .compat = Compat::rapidminer}, run); });
  add("vote_means", [=] {
    vote_means(lists, {.targets = targets, .sample_weights = targets}, {.weights = VoteWeights::distance}, run);
  });
  add("merge_neighbors", [=] { merge_neighbors(parts, 4); });
  return jobs;
}

inline std::vector<Job> model_jobs(const RunOptions& run) {
  const Table good = good_table();
  const Table numbers = for_regression(good);
  const NormalizeOptions z{.method = Normalization::z};
  const CutSet cuts = {{"x", false, {2.5, 6.5}, {}}, {"c", true, {}, {"red"}}};
  struct Named {
    std::string name;
    std::vector<std::string> codes_of;
    Model model;
  };
  const std::vector<Named> models = {
      {"k-NN classifier", {"c", "d"}, {outline(good), make_neighbors_model(good, {}, z, {}, run)}},
      {"k-NN regressor", {"c", "d"}, {outline(numbers), make_neighbors_model(numbers, {}, {}, {}, run)}},
      {"k-NN index", {"c", "d"}, {outline(good), make_neighbors_model(features_only(good), {}, z, {}, run)}},
      {"components", {}, {outline(good), Pca::fit(good, {.n_components = 1, .nominal = NominalFeatures::skip}, run)}},
      {"least squares", {}, {outline(numbers), LinearModel::fit(numbers, {.nominal = NominalFeatures::skip}, run)}},
      {"tree", {}, {outline(good), DecisionTree::fit(good, {}, run)}},
      {"cuts", {"c"}, {outline(good), CutsModel{cuts, {}}}},
      {"normalisation", {}, {outline(good), Normalizer::fit(good, z, run)}}};
  std::vector<Job> jobs;
  for (const auto& [name, codes_of, model] : models) {
    const Predictor predictor(model, run);
    jobs.push_back({"Predictor, " + name, codes_of, [=](const Table& table) -> Call {
                      return [=] {
                        switch (predictor.gives()) {
                          case Predictor::Gives::classes: predictor.classify(table, run); break;
                          case Predictor::Gives::numbers: predictor.regress(table, run); break;
                          case Predictor::Gives::neighbors: predictor.neighbors(table, run); break;
                          case Predictor::Gives::table: predictor.transform(table, run); break;
                        }
                      };
                    }});
    if (predictor.gives() != Predictor::Gives::table) {
      jobs.push_back({"Predictor into a sink, " + name, codes_of, [=](const Table& table) -> Call {
                        return [=] {
                          if (predictor.gives() == Predictor::Gives::classes) {
                            predictor.classify(table, run, [](std::int64_t, const Classification&) {});
                          } else if (predictor.gives() == Predictor::Gives::numbers) {
                            predictor.regress(table, run, [](std::int64_t, std::span<const double>) {});
                          } else {
                            predictor.neighbors(table, run, [](const Neighbors&) {});
                          }
                        };
                      }});
    }
    const auto bytes = std::make_shared<std::string>();
    write_model([&](std::string_view part) { bytes->append(part); }, model);
    for (const Tables tables : {Tables::copied, Tables::shared}) {
      jobs.push_back({"Predictor of bytes, " + name,
                      {},
                      [=](const Table&) -> Call {
                        return [=] { Predictor(read_model(ModelBytes{*bytes, bytes}, run, tables), run); };
                      },
                      Reads::nothing});
    }
    jobs.push_back({"summarize_model, " + name,
                    {},
                    [=, file = std::make_shared<const MemoryFile>(*bytes)](const Table&) -> Call {
                      return [=, path = file->path()] { summarize_model(path, run); };
                    },
                    Reads::nothing});
  }
  return jobs;
}

inline std::vector<Job> reader_jobs(const RunOptions& run) {
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name, std::string_view bytes, const ReadOptions& read) {
    const auto file = std::make_shared<const MemoryFile>(bytes);
    jobs.push_back({"read_table, " + name,
                    {},
                    [=](const Table&) -> Call { return [=, path = file->path()] { read_table(path, read, run); }; },
                    Reads::nothing});
    jobs.push_back({"read_table alike, " + name,
                    {},
                    [=](const Table&) -> Call {
                      return [=, path = file->path(), first = read_table(file->path(), read, run)] {
                        like(first, path, read);
                      };
                    },
                    Reads::nothing});
  };
  using enum Format;
  add("csv", "x,c,y\n0,red,a\n1.5,blue,b\n,red,a\n\"4\",\"bl\"\"ue\",\"b\"\n",
      {.format = csv, .target = "y", .ignore = {"c"}});
  add("csv with numbers as values", "x,y\n0,1\n1,2\n", {.format = csv, .target = "y", .target_is_nominal = true});
  add("arff", "@relation r\n@attribute x numeric\n@attribute c {red,'a b'}\n@data\n0,red\n?,'a b'\n{0 3,1 red}\n",
      {.format = arff, .target = "c"});
  std::string npy_bytes = npy_header("float32", 2, 2);
  add("npy", npy_bytes.append(16, '\0'), {.format = npy});
  add("raw", std::string(24, '\0'), {.format = raw, .n_features = 3});
  add("fvecs", std::string("\1\0\0\0\0\0\0\0", 8), {.format = fvecs});
  return jobs;
}

inline std::vector<Job> arrow_jobs(const RunOptions& run) {
  const std::vector<std::string> every = {"c", "d", "y", "g"};
  struct Batch {
    std::shared_ptr<ArrowSchema> schema = released_at_the_end<ArrowSchema>();
    std::shared_ptr<ArrowArray> batch = released_at_the_end<ArrowArray>();
  };
  std::vector<Job> jobs = {{"export_arrow", every,
                            [=](const Table& table) -> Call {
                              return [=, to = Batch()] { export_arrow(table, to.schema.get(), to.batch.get(), run); };
                            }},
                           {"export_arrow as a stream", every, [=](const Table& table) -> Call {
                              return [=, to = released_at_the_end<ArrowArrayStream>()] {
                                export_arrow(table, to.get(), 5, run);
                              };
                            }}};
  for (const ArrowMemory memory : {ArrowMemory::shared, ArrowMemory::copied}) {
    const ArrowOptions take{.target = "y", .ignore = {"g"}, .memory = memory};
    jobs.push_back({"import_arrow",
                    {},
                    [=](const Table&) -> Call {
                      const Batch from;
                      export_arrow(good_table(), from.schema.get(), from.batch.get(), run);
                      return [=] { import_arrow(from.schema.get(), from.batch.get(), take, run); };
                    },
                    Reads::nothing});
    jobs.push_back({"import_arrow of a stream",
                    {},
                    [=](const Table&) -> Call {
                      const auto from = released_at_the_end<ArrowArrayStream>();
                      export_arrow(good_table(), from.get(), memory == ArrowMemory::shared ? 0 : 5, run);
                      return [=] { import_arrow(from.get(), take, run); };
                    },
                    Reads::nothing});
  }
  return jobs;
}

inline std::vector<Job> guest_jobs(const RunOptions& run) {
  std::vector<Job> jobs;
  for (const auto& some : {array_jobs(run), list_jobs(run), model_jobs(run), reader_jobs(run), arrow_jobs(run)}) {
    jobs.insert(jobs.end(), some.begin(), some.end());
  }
  return jobs;
}

}  // namespace stope::every_job
