#include "tree/orders.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "device/backend.hpp"
#include "discretize/crew.hpp"
#include "discretize/group_sorter.hpp"
#include "table/column_memory.hpp"

namespace stope::tree {
namespace {

using discretize::Attribute;
using discretize::Crew;
using discretize::DecisionProblem;
using discretize::GroupSorter;
using discretize::part_begin;

Buffer<RankedRow> allocate(const DecisionProblem& problem, const RunOptions& run) {
  const std::int64_t size = checked::mul(problem.n_rows, problem.n_attributes());
  const std::int64_t bytes = checked::mul(size, sizeof(RankedRow));
  return Buffer<RankedRow>(size, storage_within(bytes, memory_budget(run)));
}

// The rank of a symbolic value is its code.
void sort_codes(const Attribute& attribute, std::int64_t n_rows, RankedRow* out) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(attribute.n_values()) + 1, 0);
  const std::int32_t* const codes = attribute.codes();
  for (std::int64_t row = 0; row < n_rows; ++row) ++next[static_cast<std::size_t>(codes[row]) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const auto code = static_cast<std::uint32_t>(codes[row]);
    out[next[code]++] = ranked_row(code, static_cast<std::uint32_t>(row));
  }
}

// What one thread needs.
struct Worker {
  GroupSorter sorter;
  Buffer<std::uint32_t> rows;
  Buffer<std::uint8_t> differs;

  Worker(const discretize::NetworkKernels* kernels, std::int64_t n_rows, const discretize::ClassRanks& ranks,
         Storage storage)
      : sorter(kernels, n_rows, ranks, storage), rows(n_rows, storage), differs(n_rows, storage) {}
};

class Sort {
 public:
  Sort(const DecisionProblem& problem, Orders& orders) : problem_(problem), orders_(orders) {}

  void run(Worker& worker, std::int64_t begin, std::int64_t end, const Crew& crew) {
    std::vector<std::int64_t> doubles, floats;
    for (std::int64_t a = begin; a < end; ++a) {
      const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(a)];
      if (attribute.symbolic) {
        sort_codes(attribute, problem_.n_rows, orders_.of(a));
      } else {
        (std::holds_alternative<Buffer<float>>(attribute.data) ? floats : doubles).push_back(a);
      }
    }
    for (const std::vector<std::int64_t>* all : {&doubles, &floats}) {
      const std::span<const std::int64_t> attributes(*all);
      const auto lanes = static_cast<std::size_t>(worker.sorter.lanes());
      for (std::size_t i = 0; i < attributes.size(); i += lanes) {
        numeric(worker, attributes.subspan(i, std::min(attributes.size() - i, lanes)), crew);
      }
    }
  }

 private:
  void numeric(Worker& worker, std::span<const std::int64_t> attributes, const Crew& crew) {
    const Attribute* columns[discretize::kMostLanes];
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      columns[i] = &problem_.attributes[static_cast<std::size_t>(attributes[i])];
    }
    worker.sorter.sort({columns, attributes.size()});
    for (std::size_t lane = 0; lane < attributes.size(); ++lane) {
      worker.sorter.order_of(static_cast<int>(lane), worker.rows.data(), worker.differs.data(), crew);
      write(worker, orders_.of(attributes[lane]), crew);
    }
  }

  // Writes rows with their ranks. A rank is the number of smaller distinct values.
  void write(const Worker& worker, RankedRow* out, const Crew& crew) const {
    const std::int64_t n = problem_.n_rows;
    const int n_parts = crew.n_parts(n);
    std::vector<std::uint32_t> ranks(static_cast<std::size_t>(n_parts) + 1, 0);  // rank of the first row of each part
    if (n_parts > 1) {
      crew.each(n_parts, [&](int part) {
        const std::uint8_t* const differs = worker.differs.data();
        ranks[static_cast<std::size_t>(part) + 1] =
            std::accumulate(differs + part_begin(n, n_parts, part), differs + part_begin(n, n_parts, part + 1), 0U);
      });
      std::partial_sum(ranks.begin(), ranks.end(), ranks.begin());
    }
    crew.each(n_parts, [&](int part) {
      std::uint32_t rank = ranks[static_cast<std::size_t>(part)];
      for (std::int64_t i = part_begin(n, n_parts, part); i < part_begin(n, n_parts, part + 1); ++i) {
        out[i] = ranked_row(rank, worker.rows[i]);
        rank += worker.differs[i];
      }
    });
  }

  const DecisionProblem& problem_;
  Orders& orders_;
};

}  // namespace

Orders::Orders(const DecisionProblem& problem, ThreadPool& pool, const RunOptions& run)
    : n_rows_(problem.n_rows), rows_(allocate(problem, run)) {
  const discretize::NetworkKernels* const kernels = discretize::network_kernels(device::choose_backend(run).backend);
  const discretize::ClassRanks ranks(problem);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(pool.size()));
  const std::int64_t n = problem.n_attributes(), n_alone = discretize::columns_of_one_thread(n, n_rows_, pool.size());
  Sort sort(problem, *this);
  const Storage storage = storage_within(bytes_of_thread(n_rows_), memory_budget(run));
  const PhaseProgress phase(run, "sort", 0);
  const auto sort_columns = [&](std::int64_t begin, std::int64_t end, int worker, const Crew& crew) {
    std::unique_ptr<Worker>& mine = workers[static_cast<std::size_t>(worker)];
    if (!mine) mine = std::make_unique<Worker>(kernels, n_rows_, ranks, storage);
    sort.run(*mine, begin, end, crew);
  };
  discretize::for_tasks_of_columns(
      n_alone, n_rows_, pool, run.cancel,
      [&](std::int64_t begin, std::int64_t end, int worker) { sort_columns(begin, end, worker, {}); });
  for (std::int64_t a = n_alone; a < n; ++a) sort_columns(a, a + 1, 0, Crew(pool, run.cancel));
}

}  // namespace stope::tree
