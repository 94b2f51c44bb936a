#include "base/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace stope {
namespace {

// Whether a list such as "cpu,cpuacct" has a word.
bool lists(std::string_view list, std::string_view word) {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// The groups that a controller puts the process in: its own first, then those around it.
struct Groups {
  bool unified = false;  // version 2
  std::vector<std::string> folders;
};

// Returns the path of the process's group, from a line "number:controllers:path" of /proc/self/cgroup. A line of
// version 2 has no controllers. It counts where no line of version 1 names the controller.
bool find_path(const std::string& root, std::string_view controller, bool& unified, std::string& path) {
  std::ifstream file(root + "/proc/self/cgroup");
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const bool named = lists(controllers, controller);
    if (!named && !(controllers.empty() && !found)) continue;
    found = true;
    unified = !named;
    path = line.substr(second + 1);
    if (named) return true;
  }
  return found;
}

struct Mount {
  std::string group;   // the group that is the mount's root
  std::string folder;  // where it is mounted
};

// Returns where the controller's groups are mounted. A line of /proc/self/mountinfo: number, parent, device, root,
// folder, options and optional fields, then "-", the type, the source and the controllers.
Mount find_mount(const std::string& root, std::string_view controller, bool unified) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
    std::string skipped, type, source, options;
    Mount mount;
    head >> skipped >> skipped >> skipped >> mount.group >> mount.folder;
    tail >> type >> source >> options;
    if (unified ? type == "cgroup2" : type == "cgroup" && lists(options, controller)) return mount;
  }
  return {"/", unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + std::string(controller)};
}

Groups groups_of(const std::string& root, std::string_view controller) {
  Groups groups;
  std::string path;
  if (!find_path(root, controller, groups.unified, path)) return groups;
  const Mount mount = find_mount(root, controller, groups.unified);
  const std::string top = root + mount.folder;
  // A container may see its group as the root of the mount, while the path is the one outside. A path that is not below
  // the mount's root names a group that cannot be seen: the limits are then those of the root.
  if (mount.group != "/") {
    const bool below =
        path.starts_with(mount.group) && (path.size() == mount.group.size() || path[mount.group.size()] == '/');
    path = below ? path.substr(mount.group.size()) : "";
  }
  if (path.starts_with("/..")) path.clear();
  while (!path.empty() && path != "/") {
    groups.folders.push_back(top + path);
    path.erase(path.rfind('/'));
  }
  groups.folders.push_back(top);
  return groups;
}

// Returns the number at the beginning of a file, or -1. "max" is no number: there is no limit.
std::int64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = -1;
  return file >> value ? value : -1;
}

// Returns the number after a word of a file such as memory.stat; 0 without one.
std::int64_t number_after(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  std::string name;
  for (std::int64_t value = 0; file >> name >> value;) {
    if (name == word) return std::max<std::int64_t>(value, 0);
  }
  return 0;
}

}  // namespace

CgroupMemory cgroup_memory(const std::string& root) {
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // version 1 writes a number for "no limit"
  CgroupMemory memory;
  const Groups groups = groups_of(root, "memory");
  for (const std::string& folder : groups.folders) {
    const std::int64_t limit = number_in(folder + (groups.unified ? "/memory.max" : "/memory.limit_in_bytes"));
    if (limit < 0 || limit >= kUnlimited) continue;
    memory.limit = std::min(memory.limit, limit);
    const std::int64_t used = number_in(folder + (groups.unified ? "/memory.current" : "/memory.usage_in_bytes"));
    if (used < 0) continue;
    const std::int64_t cached =
        number_after(folder + "/memory.stat", groups.unified ? "inactive_file" : "total_inactive_file");
    memory.left = std::min(memory.left, std::clamp<std::int64_t>(limit - used + std::min(cached, used), 0, limit));
  }
  return memory;
}

double cgroup_cpus(const std::string& root) {
  double cpus = std::numeric_limits<double>::infinity();
  const Groups groups = groups_of(root, "cpu");
  for (const std::string& folder : groups.folders) {
    double quota = -1.0, period = 0.0;
    if (groups.unified) {
      std::ifstream file(folder + "/cpu.max");
      if (!(file >> quota >> period)) continue;  // "max 100000"
    } else {
      quota = static_cast<double>(number_in(folder + "/cpu.cfs_quota_us"));
      period = static_cast<double>(number_in(folder + "/cpu.cfs_period_us"));
    }
    if (quota > 0.0 && period > 0.0) cpus = std::min(cpus, quota / period);
  }
  return cpus;
}

}  // namespace stope
