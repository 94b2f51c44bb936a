// Times PCA and ridge of stope on a table in memory. Prints one JSON object, and writes variances or coefficients for
// others to check.
//
//   pca_bench pca|ridge FILE.npy K|ALPHA THREADS REPEATS OUT     (ridge: the last column is the target; K 0 = all)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/lsq.hpp"
#include "stope/pca.hpp"

namespace {

void write(const std::string& path, const std::vector<double>& values) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(values.data(), sizeof(double), values.size(), file) != values.size() ||
      std::fclose(file) != 0) {
    throw stope::Error(stope::ErrorCode::io, "cannot write " + path);
  }
}

struct Times {
  std::vector<double> seconds, cpu_seconds;

  template <class Work>
  void measure(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu_seconds.push_back(static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
};

void print(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.6f", i > 0 ? ", " : "", values[i]);
  std::printf("], ");
}

int run(char** argv) {
  const std::string job = argv[1], out = argv[6];
  const double parameter = std::atof(argv[3]);
  stope::RunOptions options;
  options.threads = std::atoi(argv[4]);
  const int repeats = std::atoi(argv[5]);
  stope::Table table = stope::read_table(argv[2], {}, options);
  Times fit, transform;
  stope::DecomposeReport report;
  for (int i = 0; i < repeats; ++i) {
    if (job == "pca") {
      stope::PcaOptions pca_options;
      pca_options.n_components = parameter;
      stope::Pca pca;
      fit.measure([&] { pca = stope::Pca::fit(table, pca_options, options); });
      transform.measure([&] { pca.transform(table, options); });
      write(out, pca.explained_variance());
      report = pca.report();
    } else {
      table.columns.back().role = stope::Role::label;
      stope::LsqOptions lsq_options;
      lsq_options.alpha = parameter;
      stope::LinearModel model;
      fit.measure([&] { model = stope::LinearModel::fit(table, lsq_options, options); });
      write(out, model.coefficients());
      report = model.report();
    }
  }
  std::printf("{");
  print("seconds", fit.seconds);
  print("cpu_seconds", fit.cpu_seconds);
  if (!transform.seconds.empty()) {
    print("transform_seconds", transform.seconds);
    print("transform_cpu_seconds", transform.cpu_seconds);
  }
  std::printf("\"method\": \"%s\", \"backend\": \"%s\", \"products\": %lld, \"iterations\": %lld}\n",
              report.method.c_str(), report.backend.c_str(), static_cast<long long>(report.products),
              static_cast<long long>(report.iterations));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: pca_bench pca|ridge FILE.npy K|ALPHA THREADS REPEATS OUT\n");
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pca_bench: %s\n", error.what());
    return 1;
  }
}
