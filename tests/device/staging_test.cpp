// Memory that threads write piece by piece to two places, from where it goes to a GPU.
#include "device/staging.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace stope::device {
namespace {

// Takes the pieces as a GPU would, and returns what came.
std::vector<char> staged(const std::vector<char>& from, const StagedSizes& sizes, int threads) {
  const auto piece_bytes = static_cast<std::size_t>(sizes.piece);
  std::vector<char> places[2] = {std::vector<char>(piece_bytes), std::vector<char>(piece_bytes)}, to;
  Staging staging(sizes, threads, [&](std::int64_t at, std::int64_t n, char* there) {
    std::memcpy(there, from.data() + at, static_cast<std::size_t>(n));
  });
  for (std::int64_t piece = 0; piece < staging.n_pieces(); ++piece) {
    char* const place = places[piece % 2].data();
    std::memset(place, 'x', piece_bytes);  // it would be seen if a thread wrote before it may
    staging.allow_next(place);
    staging.fill();
    to.insert(to.end(), place, place + staging.bytes_of(piece));
  }
  return to;
}

TEST(Staging, BringsEveryByteOnce) {
  for (const int size : {0, 1, 1000, 70001}) {
    std::vector<char> from(static_cast<std::size_t>(size));
    std::iota(from.begin(), from.end(), '\1');
    for (const std::int64_t piece : {100, 999, 100000}) {
      for (const std::int64_t task : {7, 100, 200000}) {
        if (size / piece > 100) continue;
        for (const int threads : {1, 2, 5}) {
          EXPECT_EQ(staged(from, {size, piece, task}, threads), from)
              << size << " bytes, " << piece << " a piece, " << task << " a task, " << threads << " threads";
        }
      }
    }
  }
}

TEST(Staging, ATaskHasAQuarterOfAMegabyte) {
  constexpr std::int64_t kQuarter = std::int64_t{1} << 18;
  std::vector<char> place(static_cast<std::size_t>(2 * kQuarter + 1));
  std::vector<std::int64_t> tasks;
  Staging staging({.all = std::ssize(place), .piece = std::ssize(place)}, 1,
                  [&](std::int64_t, std::int64_t n, char*) { tasks.push_back(n); });
  staging.allow_next(place.data());
  staging.fill();
  EXPECT_EQ(tasks, (std::vector<std::int64_t>{kQuarter, kQuarter, 1}));
}

TEST(Staging, WritesTheNextPieceWhileTheOwnerIsAtTheLastOne) {
  std::atomic<int> written = 0;
  char places[2][10] = {};
  Staging staging({20, 10, 5}, 2, [&](std::int64_t, std::int64_t, char*) { ++written; });
  staging.allow_next(places[0]);
  staging.fill();
  EXPECT_EQ(written, 2);
  staging.allow_next(places[1]);
  while (written < 4) std::this_thread::yield();
  staging.fill();
}

TEST(Staging, TellsWhatAThreadThrew) {
  for (const int threads : {1, 4}) {
    std::vector<char> place(1000);
    Staging staging({3000, 1000, 10}, threads, [](std::int64_t at, std::int64_t, char*) {
      if (at == 1500) throw std::runtime_error("no row 1500");
    });
    staging.allow_next(place.data());
    EXPECT_NO_THROW(staging.fill());
    staging.allow_next(place.data());
    EXPECT_THROW(staging.fill(), std::runtime_error);
  }
}

TEST(Staging, MayBeGivenUp) {
  std::vector<char> places(2000);
  for (int pieces = 0; pieces < 3; ++pieces) {
    Staging staging({5000, 1000, 10}, 4,
                    [&](std::int64_t, std::int64_t n, char* to) { std::memset(to, 'x', static_cast<std::size_t>(n)); });
    for (int piece = 0; piece < pieces; ++piece) {
      staging.allow_next(places.data() + piece % 2 * 1000);
      staging.fill();
    }
    if (pieces == 2) staging.allow_next(places.data());  // its threads are at work
  }
}

}  // namespace
}  // namespace stope::device
