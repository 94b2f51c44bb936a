// Memory of GPUs, or pinned for them, that goes from one job to the next: a driver takes milliseconds to allocate some
// megabytes, and to free them (docs/adr/0062-kept-memory.md). No CUDA header is needed here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace stope::device {

/// The blocks that its owner has allocated: those in use, and spare ones, of which it holds up to `most_bytes` per GPU.
/// `release` frees a block and throws nothing. Several threads may use it at once.
class KeptMemory {
 public:
  using Release = void (*)(void* memory);
  KeptMemory(std::int64_t most_bytes, Release release) : most_bytes_(most_bytes), release_(release) {}

  /// Returns a spare block of at least `bytes`, or null. It is at most twice as large, so that little jobs leave large
  /// blocks alone.
  void* take(int gpu, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    Block* best = nullptr;
    for (Block& block : blocks_) {
      if (!block.spare || block.gpu != gpu || block.bytes < bytes || block.bytes / 2 > bytes) continue;
      if (best == nullptr || block.bytes < best->bytes) best = &block;
    }
    if (best == nullptr) return nullptr;
    best->spare = false;
    return best->memory;
  }

  /// Takes note of a block that was allocated, and is in use. Throws std::bad_alloc.
  void add(void* memory, int gpu, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    blocks_.push_back({memory, gpu, bytes});
  }

  /// The GPU of a block in use; -1: no such block is known.
  int gpu_of(const void* memory) const {
    const std::scoped_lock lock(mutex_);
    const auto at = std::ranges::find(blocks_, memory, &Block::memory);
    return at == blocks_.end() ? -1 : at->gpu;
  }

  /// Makes a block spare, which nothing may use any more. Frees those that were given back first, until `most_bytes`
  /// are left, and a block of more than half of that at once.
  void give_back(void* memory) {
    const std::scoped_lock lock(mutex_);
    const auto at = std::ranges::find(blocks_, memory, &Block::memory);
    if (at == blocks_.end()) return;
    Block block = *at;
    blocks_.erase(at);
    if (block.bytes > most_bytes_ / 2) {
      release_(memory);
      return;
    }
    block.spare = true;
    blocks_.push_back(block);  // there is room: one was just erased
    std::int64_t bytes = spare_bytes_of(block.gpu);
    free_if([&](const Block& old) {
      if (old.gpu != block.gpu || bytes <= most_bytes_) return false;
      bytes -= old.bytes;
      return true;
    });
  }

  /// Forgets a block and frees it; also one that is not known.
  void drop(void* memory) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(blocks_, [&](const Block& block) { return block.memory == memory; });
    release_(memory);
  }

  /// Frees all spare blocks of a GPU.
  void drop_spare(int gpu) {
    const std::scoped_lock lock(mutex_);
    free_if([&](const Block& block) { return block.gpu == gpu; });
  }

  std::int64_t spare_bytes(int gpu) const {
    const std::scoped_lock lock(mutex_);
    return spare_bytes_of(gpu);
  }

 private:
  struct Block {
    void* memory;
    int gpu;
    std::int64_t bytes;
    bool spare = false;
  };

  std::int64_t spare_bytes_of(int gpu) const {
    std::int64_t bytes = 0;
    for (const Block& block : blocks_) bytes += block.spare && block.gpu == gpu ? block.bytes : 0;
    return bytes;
  }

  // Asks about spare blocks in the order in which they were given back.
  template <class Wanted>
  void free_if(const Wanted& wanted) {
    std::erase_if(blocks_, [&](const Block& block) {
      if (!block.spare || !wanted(block)) return false;
      release_(block.memory);
      return true;
    });
  }

  const std::int64_t most_bytes_;
  const Release release_;
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
};

}  // namespace stope::device
