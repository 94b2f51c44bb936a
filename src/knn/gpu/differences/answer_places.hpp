// Places in host memory for the answers of a filter: while one search copies its answer out, the GPU works for another.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "knn/cuda_abi.hpp"

namespace stope::knn {

/// Lends the numbers of places. Several threads may use it at once.
class AnswerPlaces {
 public:
  /// A place, until this object ends: `wanted`, if it is free, or else another one, unless it must be `exactly` this.
  /// Waits for a free one.
  class Borrowed {
   public:
    explicit Borrowed(AnswerPlaces& places, int wanted = 0, bool exactly = false)
        : places_(places), number_(places.take(wanted, exactly)) {}
    ~Borrowed() { places_.free(number_); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    int number() const { return number_; }

   private:
    AnswerPlaces& places_;
    int number_;
  };

 private:
  int take(int wanted, bool exactly) {
    std::unique_lock lock(mutex_);
    const auto free_place = [&] { return std::find(std::begin(taken_), std::end(taken_), false); };
    freed_.wait(lock, [&] { return exactly ? !taken_[wanted] : free_place() != std::end(taken_); });
    bool* const place = taken_[wanted] ? free_place() : taken_ + wanted;
    *place = true;
    return static_cast<int>(place - taken_);
  }
  void free(int number) {
    {
      const std::scoped_lock lock(mutex_);
      taken_[number] = false;
    }
    freed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable freed_;
  bool taken_[cuda_abi::kAnswerPlaces] = {};
};

}  // namespace stope::knn
