#include "discretize/cuda_pieces.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "device/staging.hpp"
#include "device/staging_threads.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/gpu_scores.hpp"
#include "discretize/permuted_memory.hpp"
#include "discretize/sort_memory.hpp"
#include "discretize/stage_columns.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

using cuda_abi::Failure;
using cuda_abi::Wanted;
using device::checked_call;

std::int64_t value_bytes_of(const cuda_abi::Decisions& decisions) {
  return decisions.type == cuda_abi::Type::float32 ? 4 : 8;
}

// The GPU memory that pieces of n_columns columns take: for copies, and sorted and searched
// (discretize/cuda/long_cuts.hpp, discretize/cuda/mdlp.hpp), under permutations as well
// (discretize/cuda/permutations.hpp).
std::int64_t memory_of(const cuda_abi::Decisions& decisions, std::int64_t n_columns) {
  const std::int64_t n_rows = decisions.n_rows, values = checked::mul(n_rows, n_columns),
                     value_bytes = value_bytes_of(decisions), orders = checked::mul(values, 9);
  const bool is_short = n_rows <= cuda_abi::kShortRows;
  std::int64_t all = checked::add(checked::mul(values, cuda_abi::kSlots * value_bytes), n_rows) +
                     permuted_bytes(n_rows, n_columns, decisions.n_classes, decisions.n_permutations) +
                     information_bytes(n_rows, decisions.score);
  if (!is_short) all += sort_bytes(n_rows, n_columns, value_bytes);
  if (decisions.weights != nullptr) all += n_rows * 8;
  if (decisions.wanted != Wanted::best_cut)
    return all + sorted_bytes(n_rows, std::max(decisions.most_sorted, n_columns));
  return is_short ? all : all + orders + search_bytes(n_rows, n_columns, decisions.n_classes);
}

// Piece `number` of a GPU. The last of all pieces may be shorter.
std::span<const std::int64_t> piece_of(const PieceShare& share, std::int64_t number) {
  const std::int64_t begin = (share.first + number * share.step) * share.of_piece;
  return std::span(share.attributes)
      .subspan(static_cast<std::size_t>(begin),
               static_cast<std::size_t>(std::min(share.of_piece, std::ssize(share.attributes) - begin)));
}

int slot_of(std::int64_t number) {
  return static_cast<int>(number % cuda_abi::kSlots);
}

// Columns that are sorted before they are searched: at most n_columns, at least those of a piece.
std::int64_t columns_sorted_at_once(cuda_abi::Decisions decisions, std::int64_t of_piece, std::int64_t n_columns,
                                    std::int64_t most) {
  constexpr std::int64_t kEnough = std::int64_t{1} << 30;  // bytes: more columns would not make the GPU busier
  std::int64_t n = n_columns;
  const auto fits = [&] {
    decisions.most_sorted = n;
    return sorted_bytes(decisions.n_rows, n) <= kEnough && memory_of(decisions, of_piece) <= most;
  };
  while (n > of_piece && !fits()) n = std::max(of_piece, n / 2);
  return n;
}

}  // namespace

const cuda_abi::Functions& cut_functions() {
  return *device::plugin().discretize;
}

void DestroySession::operator()(cuda_abi::Session* session) const {
  if (device::cuda_lives()) cut_functions().destroy(session);
}

CutSession make_session(int gpu, const cuda_abi::Decisions& decisions, std::int64_t of_piece) {
  cuda_abi::Session* made = nullptr;
  checked_call([&](Failure* failure) { return cut_functions().create(gpu, &decisions, of_piece, &made, failure); });
  return CutSession(made);
}

AttributeSorts::AttributeSorts(const DecisionProblem& problem) {
  for (const AttributeForm form : {AttributeForm::codes, AttributeForm::float32, AttributeForm::float64}) {
    auto& of = form == AttributeForm::codes ? open : form == AttributeForm::float32 ? floats : doubles;
    of.reserve(static_cast<std::size_t>(std::ranges::count(problem.forms, form)));
    for (std::size_t a = 0; a < problem.forms.size(); ++a) {
      if (problem.forms[a] == form) of.push_back(static_cast<std::int64_t>(a));
    }
  }
}

std::span<const std::int64_t> share_of(const std::vector<std::int64_t>& attributes, std::size_t part,
                                       std::size_t n_parts) {
  const std::size_t of_part = attributes.size() / n_parts, begin = of_part * part;
  return std::span(attributes).subspan(begin, part + 1 < n_parts ? of_part : attributes.size() - begin);
}

std::int64_t memory_of_session(const std::vector<int>& gpus, const RunOptions& run) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const int gpu : gpus) most = std::min(most, device::usable_gpu_memory(gpu, run) / std::ranges::count(gpus, gpu));
  return most;
}

std::int64_t columns_of_piece(const cuda_abi::Decisions& decisions, std::int64_t n_columns,
                              const std::vector<int>& gpus, std::int64_t most, const RunOptions& run) {
  const std::int64_t bytes = decisions.n_rows * value_bytes_of(decisions);
  const auto fits = [&](std::int64_t n) {
    const std::int64_t pinned = std::ssize(gpus) * cuda_abi::kSlots * n * bytes;
    return memory_of(decisions, n) <= most && (run.memory_limit <= 0 || pinned <= run.memory_limit);
  };
  std::int64_t n = std::clamp<std::int64_t>(cut_piece_bytes(decisions.n_rows) / bytes, 1, n_columns);
  while (!fits(n) && n > 1) n /= 2;
  if (fits(n)) return n;
  std::string what = "the best cut of a column of ";
  if (decisions.wanted == Wanted::mdlp) what = "MDLP of a column of ";
  if (decisions.wanted == Wanted::global) {
    what = "md-global over " + std::to_string(decisions.most_sorted) + " columns of ";
  }
  throw Error(ErrorCode::out_of_memory,
              what + std::to_string(decisions.n_rows) + " rows takes " + std::to_string(memory_of(decisions, 1)) +
                  " bytes of GPU memory, but only " + std::to_string(most) + " can be used; device cpu takes less");
}

void send_pieces(const DecisionProblem& problem, const PieceShare& share, cuda_abi::Session& session,
                 const RunOptions& run, const std::function<void(int slot)>& collect,
                 const std::function<void(std::span<const std::int64_t>)>& settle) {
  const std::int64_t n_pieces = checked::ceil_div(std::ssize(share.attributes), share.of_piece);
  if (share.first >= n_pieces) return;
  const std::int64_t n = checked::ceil_div(n_pieces - share.first, share.step);
  const auto piece = [&](std::int64_t number) { return piece_of(share, number); };
  const std::int64_t column = bytes_of(problem.forms[static_cast<std::size_t>(share.attributes[0])], problem.n_rows);
  const device::StagedSizes sizes{.all = ((n - 1) * share.of_piece + std::ssize(piece(n - 1))) * column,
                                  .piece = share.of_piece * column};
  const int threads =
      device::staging_threads(run, column * std::ssize(share.attributes)) / static_cast<int>(share.step);
  device::Staging staging(sizes, std::max(threads, 1), [&](std::int64_t at, std::int64_t bytes, char* to) {
    write_columns(problem, piece(at / sizes.piece), at % sizes.piece, bytes, to);
  });
  const auto allow = [&](std::int64_t number) {
    if (number < n) staging.allow_next(static_cast<char*>(cut_functions().columns(&session, slot_of(number))));
  };
  allow(0);
  for (std::int64_t number = 0; number < n; ++number) {
    run.cancel.check();
    staging.fill();
    checked_call([&](Failure* failure) {
      return cut_functions().submit(&session, slot_of(number), std::ssize(piece(number)), failure);
    });
    if (number > 0) collect(slot_of(number - 1));
    allow(number + 1);
    if (number > 0) settle(piece(number - 1));
  }
  collect(slot_of(n - 1));
  settle(piece(n - 1));
}

void sort_columns(const DecisionProblem& problem, const std::vector<std::int64_t>& attributes, std::int64_t of_piece,
                  cuda_abi::Session& session, const RunOptions& run) {
  const auto wait = [&](int slot) {
    double seconds = 0.0;
    checked_call([&](Failure* failure) { return cut_functions().collect(&session, slot, nullptr, &seconds, failure); });
  };
  send_pieces(problem, {attributes, of_piece, 0, 1}, session, run, wait, [](std::span<const std::int64_t>) {});
}

void search_sorted(const DecisionProblem& problem, const AttributeSorts& sorts, cuda_abi::Decisions decisions,
                   const std::vector<int>& gpus, const RunOptions& run,
                   const std::function<void(cuda_abi::Session&, const std::vector<std::int64_t>&)>& search) {
  const std::int64_t most = memory_of_session(gpus, run);
  ThreadPool pool(static_cast<int>(gpus.size()));
  for (const cuda_abi::Type type : {cuda_abi::Type::float32, cuda_abi::Type::float64}) {
    const auto& attributes = type == cuda_abi::Type::float32 ? sorts.floats : sorts.doubles;
    if (attributes.empty()) continue;
    decisions.type = type;
    decisions.most_sorted = 0;
    const std::int64_t of_piece = columns_of_piece(decisions, std::ssize(attributes), gpus, most, run);
    pool.parallel_for(std::ssize(gpus), run.cancel, [&](std::int64_t number, int) {
      const auto gpu = static_cast<std::size_t>(number);
      const std::span<const std::int64_t> mine = share_of(attributes, gpu, gpus.size());
      if (mine.empty()) return;
      cuda_abi::Decisions own = decisions;
      own.most_sorted = columns_sorted_at_once(own, of_piece, std::ssize(mine), most);
      const CutSession session = make_session(gpus[gpu], own, of_piece);
      for (std::size_t begin = 0; begin < mine.size(); begin += static_cast<std::size_t>(own.most_sorted)) {
        const auto batch =
            mine.subspan(begin, std::min(static_cast<std::size_t>(own.most_sorted), mine.size() - begin));
        const std::vector<std::int64_t> sent(batch.begin(), batch.end());
        sort_columns(problem, sent, of_piece, *session, run);
        search(*session, sent);
      }
    });
  }
}

}  // namespace stope::discretize
