// A saved model served to many threads: maps a model file, makes one predictor, and lets the threads take blocks of
// rows. The output does not depend on the number of threads.
//   serve_model MODEL TABLE THREADS
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <iostream>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "stope/stope.hpp"

namespace {

constexpr std::int64_t kBlock = 4;  // rows of a request; a server would take what its clients send

// What the model says of every row, as text.
std::vector<std::string> answers(const stope::Predictor& predictor, const stope::Table& rows) {
  stope::RunOptions run;
  run.threads = 1;  // the program has threads of its own
  std::vector<std::string> texts;
  if (predictor.gives() == stope::Predictor::Gives::classes) {
    const stope::Classification result = predictor.classify(rows, run);
    for (const std::int32_t code : result.codes) texts.push_back(code < 0 ? "?" : result.classes[code]);
  } else {
    for (const double number : predictor.regress(rows, run)) texts.push_back(std::to_string(number));
  }
  return texts;
}

void serve(const stope::Predictor& predictor, const stope::Table& table, int n_threads) {
  std::vector<std::string> texts(static_cast<std::size_t>(table.n_rows));
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto work = [&] {
    try {
      for (std::int64_t first = next.fetch_add(kBlock); first < table.n_rows; first = next.fetch_add(kBlock)) {
        std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(kBlock, table.n_rows - first)));
        std::iota(rows.begin(), rows.end(), first);
        const std::vector<std::string> block = answers(predictor, table.take(rows));
        std::copy(block.begin(), block.end(), texts.begin() + first);
      }
    } catch (...) {
      const std::lock_guard lock(failing);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < n_threads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  for (std::size_t row = 0; row < texts.size(); ++row) std::cout << row << ": " << texts[row] << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: serve_model MODEL TABLE THREADS\n";
    return 2;
  }
  try {
    // The columns of a large file stay where they lie: processes that serve the same file share its memory.
    const stope::Predictor predictor(stope::read_model(argv[1], {}, stope::Tables::shared));
    const stope::Table& columns = predictor.model().columns;
    const stope::Table table = stope::read_table(argv[2], stope::like(columns, argv[2]));
    serve(predictor, table, std::max(1, std::stoi(argv[3])));
    return 0;
  } catch (const stope::Error& error) {
    std::cerr << error.what() << '\n';
    return stope::exit_code(error.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
