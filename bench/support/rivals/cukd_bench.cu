// Times cudaKDTree (github.com/ingowald/cudaKDTree) on rows that knn_gpu_bench has written. Its headers lie outside
// this project, so that this program is compiled by hand, and bench/knn_gpu.py is told where it is (--cukd):
//
//   nvcc -O3 -std=c++17 -arch=sm_90a -I CUDAKDTREE bench/support/rivals/cukd_bench.cu -o cukd_bench
//   cukd_bench PREFIX COLUMNS K REPEATS      COLUMNS: 2, 3, 4 or 8; K: 1 or 10
//
// Reads PREFIX.train and PREFIX.query (float32, row by row). Builds each of its trees on the GPU and searches it in
// each of its ways, with queries as they are given and along a space-filling curve. Writes the answer of the fastest
// way as PREFIX.cukd: for each query K pairs (squared distance as float32, row as int32), which its heap leaves in any
// order. Prints one JSON object with all samples in milliseconds. Points carry their row's number, which a tree of its
// own order needs to name a row.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cukd/builder.h"
#include "cukd/fcp.h"
#include "cukd/knn.h"
#include "cukd/spatial-kdtree.h"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cukd_bench: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* allocate(std::size_t n) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, n * sizeof(T)));
  return static_cast<T*>(memory);
}

// Milliseconds of the GPU's work between two points of the default stream.
class Watch {
 public:
  Watch() { check(cudaEventCreate(&begin_)), check(cudaEventCreate(&end_)); }
  template <class Work>
  float time(const Work& work) {
    check(cudaEventRecord(begin_));
    work();
    check(cudaEventRecord(end_));
    check(cudaEventSynchronize(end_));
    check(cudaGetLastError());
    float ms = 0.0F;
    check(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  cudaEvent_t begin_, end_;
};

float median(std::vector<float> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

template <int D>
using Point =
    std::conditional_t<D == 2, float2,
                       std::conditional_t<D == 3, float3, std::conditional_t<D == 4, float4, cukd::vec_float<D>>>>;

// A point and its row's number. Where a tree chooses the column that it splits, it is kept above that number.
template <int D>
struct alignas(D <= 4 ? 16 : 4) Row {
  Point<D> point;
  std::uint32_t row;
};
constexpr int kRowBits = 28;
constexpr std::uint32_t kRowMask = (1U << kRowBits) - 1;

template <int D, bool Widest>
struct RowTraits : cukd::default_data_traits<Point<D>> {
  using data_t = Row<D>;
  enum { has_explicit_dim = Widest };
  static __host__ __device__ const Point<D>& get_point(const data_t& row) { return row.point; }
  static __host__ __device__ float get_coord(const data_t& row, int column) {
    return cukd::get_coord(row.point, column);
  }
  static __host__ __device__ int get_dim(const data_t& row) { return static_cast<int>(row.row >> kRowBits); }
  static __host__ __device__ void set_dim(data_t& row, int column) {
    row.row = (row.row & kRowMask) | static_cast<std::uint32_t>(column) << kRowBits;
  }
};

// The ways through a tree. `Where` is what each kind of tree hands over: itself, or its bounds, points and their
// number.
#define STOPE_WAY(NAME, SPACE)                                                                           \
  struct NAME {                                                                                          \
    static constexpr const char* kName = #NAME;                                                          \
    template <class Data, class Traits, class List, class Query, class... Where>                         \
    static __device__ void knn(List& list, Query query, const Where&... where) {                         \
      cukd::SPACE::knn<List, Data, Traits>(list, query, where...);                                       \
    }                                                                                                    \
    template <class Data, class Traits, class List, class Query>                                         \
    static __device__ void knn(List& list, Query query, const cukd::SpatialKDTree<Data, Traits>& tree) { \
      cukd::SPACE::knn<List, Data, Traits>(list, tree, query);                                           \
    }                                                                                                    \
    template <class Data, class Traits, class Query, class... Where>                                     \
    static __device__ int nearest(Query query, const Where&... where) {                                  \
      return cukd::SPACE::fcp<Data, Traits>(query, where...);                                            \
    }                                                                                                    \
    template <class Data, class Traits, class Query>                                                     \
    static __device__ int nearest(Query query, const cukd::SpatialKDTree<Data, Traits>& tree) {          \
      return cukd::SPACE::fcp<Data, Traits>(tree, query);                                                \
    }                                                                                                    \
  };
STOPE_WAY(stack, stackBased)
STOPE_WAY(corner, cct)
STOPE_WAY(stack_free, stackFree)
#undef STOPE_WAY

template <int D>
__global__ void number_rows(const Point<D>* points, int n, Row<D>* rows) {
  const int i = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (i < n) rows[i] = {points[i], static_cast<std::uint32_t>(i)};
}

// The points in the order of a balanced tree. Splits columns in turn, or the widest.
template <int D, bool Widest>
struct BalancedTree {
  static constexpr const char* kName = Widest ? "balanced, widest column" : "balanced, columns in turn";
  using Data = Row<D>;
  using Traits = RowTraits<D, Widest>;
  Data* nodes;
  cukd::box_t<Point<D>>* bounds;
  int n;

  float build(const Point<D>* points, int n_points, Watch& watch) {
    if (nodes == nullptr) {
      nodes = allocate<Data>(n_points);
      bounds = allocate<cukd::box_t<Point<D>>>(1);
    }
    n = n_points;
    number_rows<D><<<(n + 255) / 256, 256>>>(points, n, nodes);
    return watch.time([&] { cukd::buildTree<Data, Traits>(nodes, n, bounds); });
  }
  void free() {
    check(cudaFree(nodes));
    check(cudaFree(bounds));
  }
  template <class Way, class List>
  __device__ void knn(List& list, Point<D> query) const {
    Way::template knn<Data, Traits>(list, query, *bounds, static_cast<const Data*>(nodes), n);
  }
  template <class Way>
  __device__ int nearest(Point<D> query) const {
    return Way::template nearest<Data, Traits>(query, *bounds, static_cast<const Data*>(nodes), n);
  }
  __device__ Point<D> point(int node) const { return nodes[node].point; }
  __device__ int row(int node) const { return node < 0 ? node : static_cast<int>(nodes[node].row & kRowMask); }
};

// A tree of planes with leaves of numbers of points, which stay where they are.
template <int D>
struct SpatialTree {
  static constexpr const char* kName = "spatial";
  using Data = Point<D>;
  using Traits = cukd::default_data_traits<Data>;
  cukd::SpatialKDTree<Data, Traits> tree;
  bool is_built;

  float build(const Data* points, int n_points, Watch& watch) {
    free();
    is_built = true;
    return watch.time([&] { cukd::buildTree<Data, Traits>(tree, const_cast<Data*>(points), n_points); });
  }
  void free() {
    if (is_built) cukd::free(tree);
    is_built = false;
  }
  template <class Way, class List>
  __device__ void knn(List& list, Data query) const {
    Way::template knn<Data, Traits>(list, query, tree);
  }
  template <class Way>
  __device__ int nearest(Data query) const {
    return Way::template nearest<Data, Traits>(query, tree);
  }
  __device__ Data point(int node) const { return tree.data[node]; }
  __device__ int row(int node) const { return node; }
};

struct Found {
  float square;
  std::int32_t row;
};

// Lists of candidates, by name. With `Nearest` there is none: the search for the closest point.
template <int K>
struct Nearest {
  static constexpr const char* kName = "closest point";
};
template <int K>
struct Fixed {
  static constexpr const char* kName = "sorted list";
  using List = cukd::FixedCandidateList<K>;
};
template <int K>
struct Heap {
  static constexpr const char* kName = "heap";
  using List = cukd::HeapCandidateList<K>;
};

// One query a thread. `order` has the queries' places in the answer; null says that they are as given.
template <class Way, template <int> class Kind, int K, class Tree, class Query>
__global__ void search(Tree tree, const Query* queries, const std::uint32_t* order, int n_queries, Found* found) {
  const int i = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (i >= n_queries) return;
  const Query query = queries[i];
  Found* const list = found + static_cast<std::size_t>(order != nullptr ? order[i] : i) * K;
  if constexpr (std::is_same_v<Kind<K>, Nearest<K>>) {
    const int node = tree.template nearest<Way>(query);
    list[0] = {cukd::sqrDistance(query, tree.point(node)), tree.row(node)};
  } else {
    typename Kind<K>::List best(INFINITY);
    tree.template knn<Way>(best, query);
#pragma unroll
    for (int j = 0; j < K; ++j) list[j] = {best.get_dist2(j), tree.row(best.get_pointID(j))};
  }
}

// A place on the Z-shaped curve through the box of the queries, in 32 bits.
template <int D>
__global__ void curve_keys(const Point<D>* queries, int n, Point<D> lower, Point<D> upper, std::uint32_t* keys,
                           std::uint32_t* numbers) {
  const int i = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (i >= n) return;
  constexpr int kBits = 32 / D;
  std::uint32_t key = 0;
  for (int c = 0; c < D; ++c) {
    const float low = cukd::get_coord(lower, c), width = cukd::get_coord(upper, c) - low;
    const float share = width > 0.0F ? (cukd::get_coord(queries[i], c) - low) / width : 0.0F;
    const auto step = static_cast<std::uint32_t>(fminf(fmaxf(share, 0.0F), 0.999999F) * (1U << kBits));
    for (int b = 0; b < kBits; ++b) key |= (step >> b & 1U) << (b * D + c);
  }
  keys[i] = key;
  numbers[i] = static_cast<std::uint32_t>(i);
}

template <class Query>
__global__ void gather(const Query* queries, const std::uint32_t* order, int n, Query* sorted) {
  const int i = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (i < n) sorted[i] = queries[order[i]];
}

template <int D>
struct Queries {
  const Point<D>* given;
  Point<D>* sorted;
  std::uint32_t* order;
  int n;
  std::vector<float> sort_ms;
};

template <int D>
Queries<D> sort_queries(const std::vector<float>& values, int repeats, Watch& watch) {
  const int n = static_cast<int>(values.size() / D);
  auto* given = allocate<Point<D>>(n);
  check(cudaMemcpy(given, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  Point<D> lower, upper;
  for (int c = 0; c < D; ++c) {
    float least = values[c], most = values[c];
    for (std::size_t i = c; i < values.size(); i += D) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
    cukd::set_coord(lower, c, least);
    cukd::set_coord(upper, c, most);
  }
  Queries<D> result{given, allocate<Point<D>>(n), allocate<std::uint32_t>(n), n, {}};
  auto *keys = allocate<std::uint32_t>(n), *sorted_keys = allocate<std::uint32_t>(n);
  auto* numbers = allocate<std::uint32_t>(n);
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted_keys, numbers, result.order, n));
  auto* memory = allocate<char>(bytes);
  for (int i = 0; i <= repeats; ++i) {
    const float ms = watch.time([&] {
      curve_keys<D><<<(n + 255) / 256, 256>>>(given, n, lower, upper, keys, numbers);
      check(cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, numbers, result.order, n));
      gather<<<(n + 255) / 256, 256>>>(given, result.order, n, result.sorted);
    });
    if (i > 0) result.sort_ms.push_back(ms);
  }
  for (void* done : {static_cast<void*>(keys), static_cast<void*>(sorted_keys), static_cast<void*>(numbers),
                     static_cast<void*>(memory)}) {
    check(cudaFree(done));
  }
  return result;
}

// All searches of one run. The least median so far says which answer is kept.
template <int D, int K>
class Bench {
 public:
  Bench(const std::vector<float>& train, const std::vector<float>& query, int repeats)
      : repeats_(repeats),
        n_(static_cast<int>(train.size() / D)),
        points_(allocate<Point<D>>(n_)),
        queries_(sort_queries<D>(query, repeats, watch_)),
        found_(allocate<Found>(static_cast<std::size_t>(queries_.n) * K)),
        best_(static_cast<std::size_t>(queries_.n) * K) {
    check(cudaMemcpy(points_, train.data(), train.size() * sizeof(float), cudaMemcpyHostToDevice));
  }

  void run() {
    std::printf("{\"rows\": %d, \"queries\": %d, \"columns\": %d, \"k\": %d, ", n_, queries_.n, D, K);
    print("sort_ms", queries_.sort_ms);
    std::printf(", \"trees\": [");
    try_tree<stack, corner, stack_free>(BalancedTree<D, false>{});
    std::printf(", ");
    try_tree<stack, corner, stack_free>(BalancedTree<D, true>{});
    std::printf(", ");
    try_tree<stack, corner>(SpatialTree<D>{});
    std::printf("]}\n");
  }
  const std::vector<Found>& best() const { return best_; }

 private:
  static void print(const char* name, const std::vector<float>& values) {
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.4f", i > 0 ? ", " : "", values[i]);
    std::printf("]");
  }

  template <class... Ways, class Tree>
  void try_tree(Tree tree) {
    std::vector<float> builds;
    for (int i = 0; i <= repeats_; ++i) {
      const float ms = tree.build(points_, n_, watch_);
      if (i > 0) builds.push_back(ms);
    }
    std::printf("{\"tree\": \"%s\", ", Tree::kName);
    print("build_ms", builds);
    std::printf(", \"searches\": [");
    is_first_ = true;
    (try_lists<Ways>(tree), ...);
    std::printf("]}");
    tree.free();
  }
  template <class Way, class Tree>
  void try_lists(const Tree& tree) {
    if constexpr (K == 1) {
      try_orders<Way, Nearest>(tree);
      try_orders<Way, Fixed>(tree);
    } else {
      try_orders<Way, Fixed>(tree);
      try_orders<Way, Heap>(tree);
    }
  }
  template <class Way, template <int> class Kind, class Tree>
  void try_orders(const Tree& tree) {
    for (const bool along_curve : {false, true}) {
      for (const int threads : {64, 128, 256}) {
        time_search<Way, Kind>(tree, along_curve, threads);
      }
    }
  }
  template <class Way, template <int> class Kind, class Tree>
  void time_search(const Tree& tree, bool along_curve, int threads) {
    const auto once = [&] {
      return watch_.time([&] {
        search<Way, Kind, K><<<(queries_.n + threads - 1) / threads, threads>>>(
            tree, along_curve ? queries_.sorted : queries_.given, along_curve ? queries_.order : nullptr, queries_.n,
            found_);
      });
    };
    const float first = once();
    std::vector<float> times{first};
    if (first < 1.5F * fastest_[along_curve]) {  // slower ways have no more rounds
      times.clear();
      for (int i = 0; i < repeats_; ++i) times.push_back(once());
    }
    std::printf("%s{\"way\": \"%s\", \"list\": \"%s\", \"queries\": \"%s\", \"threads\": %d, ", is_first_ ? "" : ", ",
                Way::kName, Kind<K>::kName, along_curve ? "along a curve" : "as given", threads);
    print("ms", times);
    std::printf("}");
    is_first_ = false;
    const float ms = median(times);
    if (ms < std::min(fastest_[0], fastest_[1])) {
      check(cudaMemcpy(best_.data(), found_, best_.size() * sizeof(Found), cudaMemcpyDeviceToHost));
    }
    fastest_[along_curve] = std::min(fastest_[along_curve], ms);
  }

  Watch watch_;
  int repeats_, n_;
  Point<D>* points_;
  Queries<D> queries_;
  Found* found_;
  std::vector<Found> best_;
  float fastest_[2] = {INFINITY, INFINITY};
  bool is_first_ = true;
};

std::vector<float> numbers_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    std::fprintf(stderr, "cukd_bench: cannot read %s\n", path.c_str());
    std::exit(1);
  }
  std::vector<float> values(static_cast<std::size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

template <int D, int K>
void bench(const std::string& prefix, int repeats) {
  Bench<D, K> bench(numbers_in(prefix + ".train"), numbers_in(prefix + ".query"), repeats);
  bench.run();
  std::ofstream file(prefix + ".cukd", std::ios::binary);
  file.write(reinterpret_cast<const char*>(bench.best().data()),
             static_cast<std::streamsize>(bench.best().size() * sizeof(Found)));
}

template <int D>
bool bench(const std::string& prefix, int k, int repeats) {
  if (k == 1) bench<D, 1>(prefix, repeats);
  if (k == 10) bench<D, 10>(prefix, repeats);
  return k == 1 || k == 10;
}

// Its builders free and allocate at every call: freed memory is kept, so that they do not wait for the driver.
void keep_memory() {
  cudaMemPool_t pool;
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

}  // namespace

int main(int argc, char** argv) {
  const int columns = argc == 5 ? std::atoi(argv[2]) : 0, k = argc == 5 ? std::atoi(argv[3]) : 0;
  const int repeats = argc == 5 ? std::atoi(argv[4]) : 0;
  bool done = false;
  if (repeats > 0) {
    keep_memory();
    if (columns == 2) done = bench<2>(argv[1], k, repeats);
    if (columns == 3) done = bench<3>(argv[1], k, repeats);
    if (columns == 4) done = bench<4>(argv[1], k, repeats);
    if (columns == 8) done = bench<8>(argv[1], k, repeats);
  }
  if (!done) std::fputs("cukd_bench PREFIX COLUMNS K REPEATS (2, 3, 4 or 8 columns, k of 1 or 10)\n", stderr);
  return done ? 0 : 2;
}
