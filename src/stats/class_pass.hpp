// The first pass over classes of rows on the CPU. A column is read once, from its first row to its last; its values
// are laid side by side class by class, and a leaf of a class is added up as soon as it is complete.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "stats/classes.hpp"
#include "stats/cpu_pass.hpp"
#include "stats/part.hpp"
#include "stats/source.hpp"
#include "stope/run.hpp"

namespace stope::stats {

/// Where the values of a column go, the same for every column of a table. A class has room for one leaf, which is
/// filled again and again.
struct ClassSlots {
  /// A leaf of a class. It is complete where the rows before `end` of the table have been laid into their slots.
  struct Leaf {
    std::int64_t end;
    std::int64_t of_class, row;  ///< the class, and the leaf's first row within it
    std::int64_t slot, n;        ///< the first of its slots, and how many
    std::int64_t place;          ///< its place among the leaves of all classes, class after class
  };
  Buffer<std::int32_t> of_row;  ///< a row without a class has the last slot, which nobody reads; some more follow
  std::int64_t size = 0;
  std::vector<Leaf> leaves;          ///< by `end`
  std::vector<std::int64_t> begins;  ///< the place of the first leaf of every class, and behind the last one
};

/// The classes of one job, whose pass this is.
class ClassPass {
 public:
  /// `by`, `classes` and `run` must outlive it.
  ClassPass(const Column& by, Classes& classes, const RunOptions& run) : by_(by), classes_(classes), run_(run) {}

  /// Whoever reads the rows of a class calls this first.
  void fill_rows() { stats::fill_rows(by_, classes_); }
  std::size_t n_classes() const { return classes_.begins.size() - 1; }

  /// `sources` are the classes of some columns of the table, float32 or float64: all of the first column, then all of
  /// the second. Returns their parts, with the bits and the rows of pass_over(). Returns nothing where there are too
  /// few columns for the threads, or where memory has no room for the slots; pass_over() then does it.
  std::optional<std::vector<Part<double>>> over(const std::vector<Source>& sources, const PassOptions& options,
                                                ThreadPool& pool);

 private:
  const Column& by_;
  Classes& classes_;
  const RunOptions& run_;
  std::optional<ClassSlots> slots_;  // made when they are first wanted
};

}  // namespace stope::stats
