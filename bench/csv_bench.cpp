// The C++ parts of bench/csv.py and bench/csv_wide.py: they write the file, read it with stope, and run the floor, a
// bare std::from_chars loop on several threads. Each prints one JSON line.
//   csv_bench generate FILE BYTES SEED | csv_bench stope|wide|loop FILE THREADS
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"

namespace {

using stope::Random;

// 21 columns: six of whole numbers, eight of decimals, seven nominal (two with quotes, one with 20,000 values). Except
// in the first column, each cell is missing with probability 1/16.
constexpr std::array<std::string_view, 21> kNames = {"row", "age",  "count", "year",  "flag",    "big",  "x1",
                                                     "x2",  "x3",   "price", "ratio", "lat",     "tiny", "wide",
                                                     "sex", "city", "job",   "note",  "comment", "code", "label"};
enum class Column { integer, decimal, nominal };
constexpr Column kind_of(std::size_t c) {
  return c < 6 ? Column::integer : c < 14 ? Column::decimal : Column::nominal;
}

const std::array<std::string_view, 12> kJobs = {
    "sales",        "tech-support",          "craft-repair", "exec-managerial", "farming-fishing", "clerical",
    "armed-forces", "private-house-service", "transport",    "other",           "professor",       "student"};
const std::array<std::string_view, 6> kNotes = {"\"ok\"", "\"late, paid\"", "\"said \"\"no\"\"\"",
                                                "plain",  "\"two\nlines\"", "none"};

// Sums of what the generator wrote, by column. The reader's table must have the same sums.
struct Sums {
  std::array<double, 21> sum{};  // numeric: sum of the values in row order; nominal: of their lengths
  std::array<std::int64_t, 21> missing{};
  std::int64_t rows = 0;
};

class RowWriter {
 public:
  RowWriter(std::string& out, Sums& sums, Random& random) : out_(out), sums_(sums), random_(random) {}

  void row(std::int64_t r) {
    column_ = 0;
    whole(r, 0);
    whole(static_cast<std::int64_t>(random_.below(90)) + 10);
    whole(static_cast<std::int64_t>(random_.below(100000)));
    whole(1950 + static_cast<std::int64_t>(random_.below(76)));
    whole(static_cast<std::int64_t>(random_.below(2)));
    whole(static_cast<std::int64_t>(random_.below(1000000000)) - 500000000);
    decimal(random_.uniform(), 4);
    decimal(random_.uniform() * 20 - 10, 6);
    decimal(random_.uniform() * 2000 - 1000, 3);
    decimal(random_.uniform() * 1000, 2);
    decimal(random_.uniform(), 8);
    decimal(random_.uniform() * 180 - 90, 7);
    decimal(random_.uniform() / 100, 9);
    shortest(random_.uniform() * 1e6);
    text(random_.below(2) == 0 ? "female" : "male");
    text("city" + std::to_string(random_.below(300)));
    text(kJobs[random_.below(kJobs.size())]);
    text(kNotes[random_.below(kNotes.size())]);
    text("c" + std::to_string(random_.below(50)));
    text("id-" + std::to_string(random_.below(20000)));
    text(random_.below(3) == 0 ? "yes" : "no");
    out_.back() = '\n';
    ++sums_.rows;
  }

 private:
  bool missing() {
    if (random_.below(16) != 0) return false;
    ++sums_.missing[column_++];
    out_ += random_.below(8) == 0 ? "?," : ",";
    return true;
  }
  void put(std::string_view written, double sum) {
    out_ += written;
    out_ += ',';
    sums_.sum[column_++] += sum;
  }
  void whole(std::int64_t value, int may_miss = 1) {
    if (may_miss != 0 && missing()) return;
    put(std::to_string(value), static_cast<double>(value));
  }
  // Uses strtod, not from_chars: a check must not share a routine with the code that it checks.
  void decimal(double value, int digits) {
    if (missing()) return;
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + 60, value, std::chars_format::fixed, digits).ptr;
    *end = '\0';
    put({buffer, static_cast<std::size_t>(end - buffer)}, std::strtod(buffer, nullptr));
  }
  void shortest(double value) {
    if (missing()) return;
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + 60, value).ptr;
    *end = '\0';
    put({buffer, static_cast<std::size_t>(end - buffer)}, std::strtod(buffer, nullptr));
  }
  void text(std::string_view written) {
    if (missing()) return;
    std::size_t length = written.size();
    if (written.front() == '"') {
      length -= 2;
      if (written.find("\"\"") != std::string_view::npos) length -= 2;  // two doubled quotes
    }
    put(written, static_cast<double>(length));
  }

  std::string& out_;
  Sums& sums_;
  Random& random_;
  std::size_t column_ = 0;
};

void print(const Sums& sums) {
  std::printf("{\"rows\": %lld, \"sums\": [", static_cast<long long>(sums.rows));
  for (std::size_t c = 0; c < 21; ++c) std::printf("%s%.17g", c > 0 ? ", " : "", sums.sum[c]);
  std::printf("], \"missing\": [");
  for (std::size_t c = 0; c < 21; ++c) {
    std::printf("%s%lld", c > 0 ? ", " : "", static_cast<long long>(sums.missing[c]));
  }
  std::printf("]");
}

int generate(const std::string& path, std::int64_t bytes, std::uint64_t seed) {
  std::ofstream file(path, std::ios::binary);
  std::string out;
  for (std::size_t c = 0; c < kNames.size(); ++c) (out += kNames[c]) += c + 1 < kNames.size() ? ',' : '\n';
  Sums sums;
  Random random(seed);
  RowWriter writer(out, sums, random);
  std::int64_t written = 0;
  for (std::int64_t r = 0; written + static_cast<std::int64_t>(out.size()) < bytes; ++r) {
    writer.row(r);
    if (out.size() < (std::size_t{1} << 22)) continue;
    file << out;
    written += static_cast<std::int64_t>(out.size());
    out.clear();
  }
  file << out;
  print(sums);
  std::printf("}\n");
  return file.good() ? 0 : 1;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// CPU time of all threads, which is steadier on a busy machine.
double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A line such as "VmHWM: 123 kB" of /proc/self/status, in bytes.
long long status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(key)) return std::atoll(line.c_str() + key.size()) * 1024;
  }
  return 0;
}

int read_with_stope(const std::string& path, int threads) {
  stope::RunOptions run;
  run.threads = threads;
  stope::ReadOptions options;
  const auto start = std::chrono::steady_clock::now();
  const stope::Table table = stope::read_table(path, options, run);
  const double seconds = seconds_since(start), cpu = cpu_seconds();
  const long long anonymous = status_bytes("RssAnon:"), peak = status_bytes("VmHWM:");
  Sums sums;
  sums.rows = table.n_rows;
  for (std::size_t c = 0; c < table.columns.size() && c < 21; ++c) {
    const stope::Column& column = table.columns[c];
    if (column.nominal() != (kind_of(c) == Column::nominal) || column.name != kNames[c]) return 1;
    for (std::int64_t r = 0; r < table.n_rows; ++r) {
      const double value = column.at(r);
      if (std::isnan(value)) {
        ++sums.missing[c];
      } else {
        sums.sum[c] +=
            column.nominal() ? static_cast<double>(column.values[static_cast<std::size_t>(value)].size()) : value;
      }
    }
  }
  print(sums);
  std::printf(
      ", \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"table_bytes\": %lld, \"anonymous_bytes\": %lld, \"peak_bytes\": "
      "%lld}\n",
      seconds, cpu, static_cast<long long>(table.bytes()), anonymous, peak);
  return 0;
}

// Reads a table of any shape, for bench/csv_wide.py: the sum of all its numbers.
int read_wide_with_stope(const std::string& path, int threads) {
  stope::RunOptions run;
  run.threads = threads;
  const auto start = std::chrono::steady_clock::now();
  const stope::Table table = stope::read_table(path, {}, run);
  const double seconds = seconds_since(start), cpu = cpu_seconds();
  double sum = 0;
  for (const stope::Column& column : table.columns) {
    for (std::int64_t r = 0; r < table.n_rows && !column.nominal(); ++r) sum += column.at(r);
  }
  std::printf("{\"rows\": %lld, \"sum\": %.17g, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld}\n",
              static_cast<long long>(table.n_rows), sum, seconds, cpu, status_bytes("VmHWM:"));
  return 0;
}

// The floor: it finds separators and line ends byte by byte and calls from_chars where the column is numeric. It stores
// and hashes nothing, and only steps over quotes.
double loop_over(std::string_view text) {
  double sum = 0;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (std::size_t column = 0; p < end;) {
    if (kind_of(column) != Column::nominal) {
      double value = 0;
      const auto result = std::from_chars(p, end, value);
      if (result.ec == std::errc()) sum += value;
      p = result.ptr;
      while (p < end && *p != ',' && *p != '\n') ++p;
    } else if (*p == '"') {
      for (++p; p < end; ++p) {
        if (*p != '"') continue;
        if (p + 1 == end || p[1] != '"') break;
        ++p;
      }
      ++p;
    } else {
      while (p < end && *p != ',' && *p != '\n') ++p;
    }
    if (p < end && *p == '\n') {
      column = 0;
    } else if (++column == 21) {
      column = 0;
    }
    ++p;
  }
  return sum;
}

int run_loop(const std::string& path, int threads) {
  const auto start = std::chrono::steady_clock::now();
  const int fd = ::open(path.c_str(), O_RDONLY);
  struct stat status{};
  if (fd < 0 || ::fstat(fd, &status) != 0) return 1;
  const auto n = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, n, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return 1;
  const std::string_view text(static_cast<const char*>(address), n);
  std::size_t begin = text.find('\n') + 1;
  std::vector<double> sums(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      // Cuts where a line ends with the last column, so that an embedded line feed is no cut.
      std::size_t cut = n;
      if (t + 1 < threads) {
        const std::size_t wanted = n / static_cast<std::size_t>(threads) * static_cast<std::size_t>(t + 1);
        const std::size_t yes = text.find(",yes\n", wanted), no = text.find(",no\n", wanted);
        cut = yes < no ? yes + 5 : no + 4;
      }
      workers.emplace_back(
          [&, t, part = text.substr(begin, cut - begin)] { sums[static_cast<std::size_t>(t)] = loop_over(part); });
      begin = cut;
    }
  }
  double sum = 0;
  for (const double s : sums) sum += s;
  ::munmap(address, n);  // timed, since read_table does it, too
  ::close(fd);
  std::printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"sum\": %.17g}\n", seconds_since(start), cpu_seconds(), sum);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() == 4 && args[0] == "generate") {
      return generate(args[1], std::atoll(args[2].c_str()), std::strtoull(args[3].c_str(), nullptr, 10));
    }
    if (args.size() == 3 && args[0] == "stope") return read_with_stope(args[1], std::atoi(args[2].c_str()));
    if (args.size() == 3 && args[0] == "wide") return read_wide_with_stope(args[1], std::atoi(args[2].c_str()));
    if (args.size() == 3 && args[0] == "loop") return run_loop(args[1], std::atoi(args[2].c_str()));
    std::cerr << "usage: csv_bench generate FILE BYTES SEED | stope|wide|loop FILE THREADS\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  return 1;
}
