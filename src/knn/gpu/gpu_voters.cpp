#include "knn/gpu/gpu_voters.hpp"

#include <algorithm>

#include "stope/error.hpp"

namespace stope::knn {
namespace {

// Copies kept on a GPU. A front end with several labels searches for one after the other, again and again.
constexpr std::size_t kMostKept = 8;

bool same(const std::weak_ptr<const HeldVoters>& a, const std::shared_ptr<const HeldVoters>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

GpuVoters::GpuVoters(int gpu, const VoterView& voters) {
  checked_call([&](cuda_abi::Failure* failure) {
    cuda_abi::VotersOnGpu* copy = nullptr;
    const int code = cuda_functions().voters_create(gpu, &voters, &copy, failure);
    copy_.reset(copy);
    return code;
  });
}

std::shared_ptr<const GpuVoters> GpuVotersCache::copy_on(int gpu, const std::shared_ptr<const HeldVoters>& voters) {
  const std::scoped_lock lock(mutex_);
  const auto there = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.gpu == gpu && same(entry.of, voters); });
  if (there != entries_.end()) {
    std::rotate(there, there + 1, entries_.end());
    return entries_.back().copy;
  }
  drop_what_nobody_needs(gpu, kMostKept - 1);
  const auto make = [&] { return std::make_shared<const GpuVoters>(gpu, voters->view()); };
  for (const bool last_try : {false, true}) {
    try {
      entries_.push_back({gpu, voters, make()});
      return entries_.back().copy;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      const std::size_t before = entries_.size();
      drop_what_nobody_needs(gpu, 0);
      if (last_try || entries_.size() == before) return nullptr;
    }
  }
  return nullptr;
}

void GpuVotersCache::release() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

// Keeps the `most` copies on a GPU that were used last. Copies of predictors that are gone go first.
void GpuVotersCache::drop_what_nobody_needs(int gpu, std::size_t most) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.of.expired(); });
  const auto on_this = [&](const Entry& entry) { return entry.gpu == gpu; };
  auto n = static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), on_this));
  for (auto entry = entries_.begin(); n > most && entry != entries_.end();) {
    if (!on_this(*entry)) {
      ++entry;
    } else {
      entry = entries_.erase(entry);
      --n;
    }
  }
}

}  // namespace stope::knn
