// Times a pipeline whose data are in a GPU's memory: fit, first predictions, later ones, all wanted in that memory.
// Once rows and predictions stay there, and once they go through the host, as a host's arrays do. Prints one JSON
// object.
//
//   knn_resident_bench ROWS QUERIES COLUMNS K CLASSES REPEATS
//
// Rows are float32, uniform. Times are wall times in milliseconds. "cpu_ms" are the later predictions of the CPU by all
// threads, from and to the host's memory. "same": whether all predictions have the same bits.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/gpu_memory.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using stope::gpu_memory::Array;
using stope::gpu_memory::Driver;

double milliseconds_since(Clock::time_point start) {
  return 1e3 * std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<float> uniform(std::int64_t n, std::uint64_t seed) {
  stope::Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = static_cast<float>(random.uniform());
  return values;
}

struct Sizes {
  std::int64_t rows, queries, columns, k, classes;
  int repeats;
};

struct Times {
  std::vector<double> fit, first, later;
  std::string method;
};

struct Predictions {
  std::vector<std::int32_t> codes;
  std::vector<double> shares;
  bool operator==(const Predictions& other) const {
    return codes == other.codes && shares.size() == other.shares.size() &&
           std::memcmp(shares.data(), other.shares.data(), shares.size() * sizeof(double)) == 0;
  }
};

class Pipeline {
 public:
  explicit Pipeline(const Sizes& sizes)
      : sizes_(sizes),
        host_rows_(uniform(sizes.rows * sizes.columns, 1)),
        host_queries_(uniform(sizes.queries * sizes.columns, 2)),
        driver_(0),
        rows_(driver_, host_rows_),
        queries_(driver_, host_queries_),
        codes_(driver_, std::vector<std::int32_t>(static_cast<std::size_t>(sizes.queries))),
        shares_(driver_, std::vector<double>(static_cast<std::size_t>(sizes.queries * sizes.classes))) {
    stope::Random random(3);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(sizes.rows));
    for (std::int32_t& label : labels) {
      label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(sizes.classes)));
    }
    std::vector<std::string> names;
    for (std::int64_t c = 0; c < sizes.classes; ++c) names.push_back(std::to_string(c));
    label_ = stope::make_nominal("y", labels, names);
  }

  Predictions run(bool there, Times& times) const {
    // Any limit that the table keeps sends its rows to the host.
    there ? unsetenv("STOPE_DEVICE_ROWS") : setenv("STOPE_DEVICE_ROWS", "1000000000000", 1);
    for (int i = 0; i < sizes_.repeats; ++i) {
      Clock::time_point start = Clock::now();
      const stope::KnnClassifier model = stope::KnnClassifier::fit(
          stope::KnnIndex::fit(array(rows_.as<char>(), sizes_.rows, 0), {}, on_gpu()), label_);
      times.fit.push_back(milliseconds_since(start));
      start = Clock::now();
      times.method = predict(model, there);
      times.first.push_back(milliseconds_since(start));
      for (int j = 0; j < 3; ++j) {
        start = Clock::now();
        predict(model, there);
        times.later.push_back(milliseconds_since(start));
      }
    }
    return {codes_.values<std::int32_t>(), shares_.values<double>()};
  }

  Predictions run_on_cpu(std::vector<double>& times) const {
    stope::RunOptions run;
    run.device = "cpu";
    const stope::KnnClassifier model =
        stope::KnnClassifier::fit(stope::KnnIndex::fit(array(host_rows_.data(), sizes_.rows, -1), {}, run), label_);
    stope::Classification found;
    for (int i = 0; i < 3; ++i) {
      const Clock::time_point start = Clock::now();
      found = model.predict(array(host_queries_.data(), sizes_.queries, -1), vote(), run);
      times.push_back(milliseconds_since(start));
    }
    return {found.codes, found.confidences};
  }

 private:
  static stope::RunOptions on_gpu() {
    stope::RunOptions run;
    run.device = "cuda:0";
    return run;
  }
  stope::VoteOptions vote() const { return {.n_neighbors = sizes_.k}; }
  stope::ArrayView array(const void* data, std::int64_t n, int gpu) const {
    return {data, stope::ElementType::float32, n, sizes_.columns, 0, 1, gpu};
  }

  std::string predict(const stope::KnnClassifier& model, bool there) const {
    const stope::ArrayView queries = array(queries_.as<char>(), sizes_.queries, 0);
    if (there) {
      const stope::PredictionArrays out{codes_.as<std::int32_t>(), shares_.as<double>(), 0};
      return model.predict(queries, vote(), on_gpu(), out).method;
    }
    stope::SearchReport report;
    const stope::Classification found = model.predict_each(queries, {sizes_.k}, vote(), on_gpu(), &report).front();
    copy(found.codes.data(), found.codes.size() * sizeof(std::int32_t), codes_);
    copy(found.confidences.data(), found.confidences.size() * sizeof(double), shares_);
    return report.method;
  }
  void copy(const void* from, std::size_t bytes, const Array& to) const {
    driver_.call<std::uint64_t, const void*, std::size_t>("cuMemcpyHtoD_v2",
                                                          reinterpret_cast<std::uint64_t>(to.as<char>()), from, bytes);
  }

  Sizes sizes_;
  std::vector<float> host_rows_, host_queries_;
  stope::Column label_;
  Driver driver_;
  Array rows_, queries_, codes_, shares_;
};

void print(const char* name, const std::vector<double>& times) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < times.size(); ++i) std::printf("%s%.3f", i > 0 ? ", " : "", times[i]);
  std::printf("], ");
}

void print(const char* name, const Times& times) {
  std::printf("\"%s\": {", name);
  print("fit_ms", times.fit);
  print("first_ms", times.first);
  print("later_ms", times.later);
  std::printf("\"method\": \"%s\"}, ", times.method.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "knn_resident_bench ROWS QUERIES COLUMNS K CLASSES REPEATS\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  const Sizes sizes{number(1), number(2), number(3), number(4), number(5), static_cast<int>(number(6))};
  try {
    const Pipeline pipeline(sizes);
    Times warm, there, through_host;
    std::vector<double> cpu;
    pipeline.run(true, warm);  // the driver loads kernels
    const Predictions kept = pipeline.run(true, there);
    const Predictions copied = pipeline.run(false, through_host);
    const Predictions expected = pipeline.run_on_cpu(cpu);
    std::printf("{\"rows\": %lld, \"queries\": %lld, \"columns\": %lld, \"k\": %lld, \"classes\": %lld, ", number(1),
                number(2), number(3), number(4), number(5));
    print("there", there);
    print("through_host", through_host);
    print("cpu_ms", cpu);
    std::printf("\"same\": %s}\n", kept == copied && kept == expected ? "true" : "false");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
