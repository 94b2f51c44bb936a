#include "model/checksum.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/progress.hpp"
#include "base/simd/cpu.hpp"
#include "base/thread_pool.hpp"
#include "model/crc64.hpp"

namespace stope::model {
namespace {

// A quarter of a millisecond's work at least, against the start of a thread. The cancel token is polled before each.
constexpr std::size_t kPiece = std::size_t{1} << 22;

using ByteTable = std::array<std::uint64_t, 256>;

// kTables[k][b]: what byte b does to the remainder when k more bytes follow. A step takes eight bytes ("slicing by 8":
// Kounavis and Berry, ISCC 2005).
constexpr std::array<ByteTable, 8> make_tables() {
  std::array<ByteTable, 8> tables{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = crc_times_x(rest);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr std::array<ByteTable, 8> kTables = make_tables();

std::uint64_t state_after(std::uint64_t state, std::string_view bytes) {
  return simd::has_clmul() ? crc_by_clmul(state, bytes) : crc_by_table(state, bytes);
}

}  // namespace

std::uint64_t crc_by_table(std::uint64_t state, std::string_view bytes) {
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= state;
    state = 0;
    for (std::size_t k = 0; k < 8; ++k) state ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) state = (state >> 8) ^ kTables[0][(state ^ static_cast<unsigned char>(c)) & 0xff];
  return state;
}

void Crc64::add(std::string_view bytes) {
  state_ = state_after(state_, bytes);
}

// A state is linear in the state before and in the bytes. So each piece starts from zero, and the state before it is
// multiplied by x once for every bit of the piece and added.
std::uint64_t checksum(std::string_view bytes, const RunOptions& run) {
  const std::size_t n_pieces = (bytes.size() + kPiece - 1) / kPiece;
  std::vector<std::uint64_t> states(n_pieces);
  const int threads = run.threads > 0 ? run.threads : available_threads();
  ThreadPool pool(static_cast<int>(std::clamp<std::size_t>(n_pieces, 1, static_cast<std::size_t>(threads))));
  PhaseProgress phase(run, "checksum", static_cast<std::int64_t>(n_pieces));
  const PhaseSpan span(phase, 0, static_cast<std::int64_t>(n_pieces), 1);
  pool.parallel_for(static_cast<std::int64_t>(n_pieces), run.cancel, [&](std::int64_t task, int) {
    const auto piece = static_cast<std::size_t>(task);
    states[piece] = state_after(0, bytes.substr(piece * kPiece, kPiece));
  });
  std::uint64_t state = ~std::uint64_t{0};
  const std::uint64_t over_piece = crc_power_of_x(8 * kPiece);
  for (std::size_t piece = 0; piece < n_pieces; ++piece) {
    const std::size_t size = std::min(kPiece, bytes.size() - piece * kPiece);
    const std::uint64_t over = size == kPiece ? over_piece : crc_power_of_x(8 * size);
    state = crc_product(state, over) ^ states[piece];
  }
  return ~state;
}

}  // namespace stope::model
