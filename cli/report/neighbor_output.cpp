// Neighbour lists as files (cli/report/neighbor_output.hpp).
#include "report/neighbor_output.hpp"

#include <bit>
#include <limits>

#include "report/output_format.hpp"
#include "report/record_writer.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "the binary formats are written as they lie in memory");

constexpr std::int64_t kMaxInt32Rows = std::int64_t{1} << 31;  // row numbers 0 .. 2^31 - 1

template <class T>
void append_value(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void require_int32_rows(const NeighborShape& shape, std::string_view format) {
  if (shape.n_samples < kMaxInt32Rows) return;
  throw Error(ErrorCode::unsupported, std::string(format) +
                                          " holds row numbers below 2^31 and the training table has " +
                                          std::to_string(shape.n_samples) + " rows; npy holds any number");
}

class RecordNeighbors : public NeighborOutput {
 public:
  RecordNeighbors(const std::string& path, const std::string& format, const CancelToken& cancel)
      : file_(path, cancel), csv_(file_, format) {}

  void begin(const NeighborShape&) override {  // a radius finds any number
    csv_.text("row").text("pos").text("train_index").text("distance").end_row();
  }
  void write(const Neighbors& block) override {
    for (std::int64_t query = 0; query < block.n_queries(); ++query) {
      const auto first = block.offsets[static_cast<std::size_t>(query)];
      const auto last = block.offsets[static_cast<std::size_t>(query) + 1];
      for (std::int64_t i = first; i < last; ++i) {
        csv_.integer(block.first_query + query).integer(i - first);
        csv_.integer(block.indices[static_cast<std::size_t>(i)]).number(block.distances[static_cast<std::size_t>(i)]);
        csv_.end_row();
      }
    }
  }
  void commit() override {
    csv_.finish();
    file_.commit();
  }
  std::vector<std::string> paths() const override { return {file_.path()}; }

 private:
  OutputFile file_;
  RecordWriter csv_;
};

/// Two files with one array each; every list is padded to the same width. Index and Distance are the types stored.
template <class Index, class Distance>
class ArrayPair : public NeighborOutput {
 public:
  ArrayPair(const std::string& indices, const std::string& distances, const CancelToken& cancel)
      : indices_(indices, cancel), distances_(distances, cancel) {}

  void begin(const NeighborShape& shape) override {
    width_ = shape.width;
    if constexpr (sizeof(Index) == 4) require_int32_rows(shape, "raw");
    indices_.require_space(shape.n_queries, shape.width, sizeof(Index));
    distances_.require_space(shape.n_queries, shape.width, sizeof(Distance));
    if constexpr (sizeof(Index) == 8) {
      indices_.write(npy_header("int64", shape.n_queries, shape.width));
      distances_.write(npy_header("float64", shape.n_queries, shape.width));
    }
  }
  void write(const Neighbors& block) override {
    std::string indices, distances;
    for (std::size_t query = 0; query + 1 < block.offsets.size(); ++query) {
      const std::int64_t length = block.offsets[query + 1] - block.offsets[query];
      for (std::int64_t i = 0; i < width_; ++i) {
        const auto at = static_cast<std::size_t>(block.offsets[query] + i);
        append_value(indices, i < length ? static_cast<Index>(block.indices[at]) : Index{-1});
        append_value(distances, i < length ? static_cast<Distance>(block.distances[at])
                                           : std::numeric_limits<Distance>::quiet_NaN());
      }
    }
    indices_.write(indices);
    distances_.write(distances);
  }
  void commit() override { OutputFile::commit_all({&indices_, &distances_}); }
  std::vector<std::string> paths() const override { return {indices_.path(), distances_.path()}; }

 private:
  OutputFile indices_, distances_;
  std::int64_t width_ = 0;
};

// One file, whose lists are padded to the same width.
class OneFile : public NeighborOutput {
 public:
  OneFile(const std::string& path, const CancelToken& cancel) : file_(path, cancel) {}

  void commit() override { file_.commit(); }
  std::vector<std::string> paths() const override { return {file_.path()}; }

 protected:
  OutputFile file_;
  std::int64_t width_ = 0;
};

/// One file with one array. Its element is a query's list: k indices, and k distances.
class StructuredNeighbors : public OneFile {
 public:
  using OneFile::OneFile;

  void begin(const NeighborShape& shape) override {
    width_ = shape.width;
    file_.require_space(shape.n_queries, width_, sizeof(std::int64_t) + sizeof(double));
    file_.write(npy_header_of_lists(shape.n_queries, width_));
  }
  void write(const Neighbors& block) override {
    std::string bytes;
    for (std::size_t query = 0; query + 1 < block.offsets.size(); ++query) {
      const std::int64_t first = block.offsets[query], length = block.offsets[query + 1] - first;
      for (std::int64_t i = 0; i < width_; ++i) {
        append_value(bytes, i < length ? block.indices[static_cast<std::size_t>(first + i)] : std::int64_t{-1});
      }
      for (std::int64_t i = 0; i < width_; ++i) {
        append_value(bytes, i < length ? block.distances[static_cast<std::size_t>(first + i)]
                                       : std::numeric_limits<double>::quiet_NaN());
      }
    }
    file_.write(bytes);
  }
};

class VecsNeighbors : public OneFile {
 public:
  using OneFile::OneFile;

  void begin(const NeighborShape& shape) override {
    require_int32_rows(shape, "ivecs");
    width_ = shape.width;
    file_.require_space(shape.n_queries, width_ + 1, sizeof(std::int32_t));  // each list begins with its length
  }
  void write(const Neighbors& block) override {
    std::string bytes;
    for (std::size_t query = 0; query + 1 < block.offsets.size(); ++query) {
      const std::int64_t length = block.offsets[query + 1] - block.offsets[query];
      append_value(bytes, static_cast<std::int32_t>(width_));
      for (std::int64_t i = 0; i < width_; ++i) {
        const auto at = static_cast<std::size_t>(block.offsets[query] + i);
        append_value(bytes, i < length ? static_cast<std::int32_t>(block.indices[at]) : std::int32_t{-1});
      }
    }
    file_.write(bytes);
  }
};

}  // namespace

bool is_array_format(std::string_view format) {
  return format == "npy" || format == "ivecs" || format == "raw";
}

std::unique_ptr<NeighborOutput> open_neighbor_output(const std::string& format, const std::string& path,
                                                     const CancelToken& cancel) {
  if (format == "npy" && suffix_of(path) == ".npy") return std::make_unique<StructuredNeighbors>(path, cancel);
  if (format == "npy") {
    return std::make_unique<ArrayPair<std::int64_t, double>>(path + ".indices.npy", path + ".distances.npy", cancel);
  }
  if (format == "raw") {
    return std::make_unique<ArrayPair<std::int32_t, float>>(path + ".indices.i32", path + ".distances.f32", cancel);
  }
  if (format == "ivecs") return std::make_unique<VecsNeighbors>(path, cancel);
  return std::make_unique<RecordNeighbors>(path, format, cancel);
}

}  // namespace stope::cli
