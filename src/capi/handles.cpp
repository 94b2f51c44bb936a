#include "capi/handles.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace stope::capi {
namespace {

// No address of a program has this bit pattern, so that following a handle by mistake faults at once.
constexpr std::uintptr_t kTag = std::uintptr_t{0x570e} << (8 * sizeof(std::uintptr_t) - 16);
constexpr std::uintptr_t kKinds = 8;

struct Handles {
  std::shared_mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<void>> objects;
  std::uintptr_t next = 1;
};

// Never destroyed: threads of a host may still free handles while the process ends.
Handles& handles() {
  static Handles* const all = new Handles;  // NOLINT(cppcoreguidelines-owning-memory)
  return *all;
}

bool is_of(std::uintptr_t number, Kind kind) {
  return (number & (kKinds - 1)) == static_cast<std::uintptr_t>(kind);
}

}  // namespace

const char* name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::run: return "run";
    case Kind::options: return "options";
    case Kind::table: return "table";
    case Kind::builder: return "builder";
    case Kind::model: return "model";
    case Kind::lists: break;
  }
  return "lists";
}

void* add_handle(Kind kind, const std::shared_ptr<void>& object) {
  Handles& all = handles();
  const std::unique_lock lock(all.mutex);
  const std::uintptr_t number = kTag | (all.next * kKinds) | static_cast<std::uintptr_t>(kind);
  // Where memory is short the caller's reference is the last one, and it goes after the lock: the release of lent
  // memory may call stope again.
  all.objects.emplace(number, object);
  ++all.next;
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): nobody follows it
}

std::shared_ptr<void> find_handle(const void* handle, Kind kind) noexcept {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 0 || !is_of(number, kind)) return nullptr;
  Handles& all = handles();
  const std::shared_lock lock(all.mutex);
  const auto found = all.objects.find(number);
  return found == all.objects.end() ? nullptr : found->second;
}

std::shared_ptr<void> remove_handle(const void* handle, Kind kind) noexcept {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 0 || !is_of(number, kind)) return nullptr;
  Handles& all = handles();
  const std::unique_lock lock(all.mutex);
  const auto found = all.objects.find(number);
  if (found == all.objects.end()) return nullptr;
  std::shared_ptr<void> object = std::move(found->second);
  all.objects.erase(found);
  return object;
}

}  // namespace stope::capi
