#include "io/noted_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "stope/lost_input.hpp"

namespace stope::io {
namespace {

enum class State { free, taken, ready };

constexpr std::size_t kPathBytes = 4096;

// Only the thread that has taken a slot writes to it, and a handler reads none but those that are ready. The handler
// does not wait: a slot that is freed under it has a path that was right a moment ago, and temporary names do not
// recur.
struct Slot {
  std::atomic<State> state = State::free;
  const char* begin = nullptr;  // null: an output
  std::int64_t size = 0;
  std::array<char, kPathBytes> path = {};
};
static_assert(std::atomic<State>::is_always_lock_free);

constexpr int kSlots = 256;
constinit std::array<Slot, kSlots> slots;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): for handlers

int note(std::string_view path, const void* begin, std::int64_t size) noexcept {
  if (path.size() >= kPathBytes) return -1;
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    State expected = State::free;
    if (!slot.state.compare_exchange_strong(expected, State::taken)) continue;
    slot.begin = static_cast<const char*>(begin);
    slot.size = size;
    std::memcpy(slot.path.data(), path.data(), path.size());
    slot.path[path.size()] = '\0';
    slot.state.store(State::ready);
    return i;
  }
  return -1;
}

}  // namespace

NotedFile::NotedFile(std::string_view name, const void* begin, std::int64_t size) noexcept
    : slot_(note(name, begin, size)) {}

NotedFile::NotedFile(std::string_view path) noexcept : slot_(note(path, nullptr, 0)) {}

NotedFile::NotedFile(NotedFile&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

NotedFile& NotedFile::operator=(NotedFile&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

void NotedFile::forget() noexcept {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].state.store(State::free);
  slot_ = -1;
}

}  // namespace stope::io

namespace stope {

const char* lost_input(const void* address) noexcept {
  const auto* const at = static_cast<const char*>(address);
  for (const io::Slot& slot : io::slots) {
    if (slot.state.load() != io::State::ready || slot.begin == nullptr) continue;
    if (at >= slot.begin && at - slot.begin < slot.size) return slot.path.data();
  }
  return nullptr;
}

void remove_unfinished_outputs() noexcept {
  for (const io::Slot& slot : io::slots) {
    if (slot.state.load() == io::State::ready && slot.begin == nullptr) ::unlink(slot.path.data());
  }
}

}  // namespace stope
