// Numeric columns on their way to GPUs, in pieces that the GPUs share: what best cuts and sets of cuts have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "discretize/cuda_abi.hpp"
#include "discretize/problem.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// The plug-in's functions; throws device_unavailable if CUDA is off.
const cuda_abi::Functions& cut_functions();

struct DestroySession {
  void operator()(cuda_abi::Session* session) const;
};
using CutSession = std::unique_ptr<cuda_abi::Session, DestroySession>;

/// Makes a session on a GPU, for pieces of up to `of_piece` columns.
CutSession make_session(int gpu, const cuda_abi::Decisions& decisions, std::int64_t of_piece);

/// The numeric attributes, by type, and those that GPUs leave open: at first the symbolic ones.
struct AttributeSorts {
  std::vector<std::int64_t> open = {}, floats = {}, doubles = {};

  explicit AttributeSorts(const DecisionProblem& problem);
};

/// Share `part` of n_parts of the attributes. The last is the largest.
std::span<const std::int64_t> share_of(const std::vector<std::int64_t>& attributes, std::size_t part,
                                       std::size_t n_parts);

/// What each session may take of its GPU's memory.
std::int64_t memory_of_session(const std::vector<int>& gpus, const RunOptions& run);

/// Columns of a piece, fewer where a session's memory, `most`, or the run's is small. All GPUs use the same number,
/// because they take pieces by number. Throws out_of_memory if not even one column fits.
std::int64_t columns_of_piece(const cuda_abi::Decisions& decisions, std::int64_t n_columns,
                              const std::vector<int>& gpus, std::int64_t most, const RunOptions& run);

/// A GPU's share of attributes of one type: every `step`-th piece, from piece `first` on.
struct PieceShare {
  const std::vector<std::int64_t>& attributes;
  std::int64_t of_piece, first, step;
};

/// Submits the pieces one after the other. While the GPU is at one piece, threads write the next, and this one takes
/// what was found in the piece before: `collect` waits for a slot, then `settle` gets the attributes of its piece.
void send_pieces(const DecisionProblem& problem, const PieceShare& share, cuda_abi::Session& session,
                 const RunOptions& run, const std::function<void(int slot)>& collect,
                 const std::function<void(std::span<const std::int64_t>)>& settle);

/// Sorts the numeric attributes on GPUs, as many at once as memory allows, and calls search(session, attributes) for
/// those that a session has sorted. Several threads call it, one a GPU. The type and the number of sorted columns of
/// `decisions` are filled in.
void search_sorted(const DecisionProblem& problem, const AttributeSorts& sorts, cuda_abi::Decisions decisions,
                   const std::vector<int>& gpus, const RunOptions& run,
                   const std::function<void(cuda_abi::Session&, const std::vector<std::int64_t>&)>& search);

/// Sends a GPU's attributes to be sorted.
void sort_columns(const DecisionProblem& problem, const std::vector<std::int64_t>& attributes, std::int64_t of_piece,
                  cuda_abi::Session& session, const RunOptions& run);

}  // namespace stope::discretize
