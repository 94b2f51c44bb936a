// stope device shows the hardware and the back ends that can use it.
#include "stope/device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "stope/files.hpp"

namespace stope::cli {
namespace {

class Device : public Command {
 public:
  explicit Device(CLI::App& program)
      : Command(program, "device", "Show the hardware and which back ends can use it",
                "Shows the CPU, the memory, the back ends, the GPUs and the plug-in for files. Where one cannot be "
                "used, it says why.") {
    OptionGroup(*app, "Output").text("-o,--output", output_, "FILE", "File for the text; default: stdout");
    add_common("Examples\n  stope device\n  stope device --json\n");
  }

  void run(Session& session) override {
    const bool writes = !common.json || !output_.empty();
    if (writes) session.wants_data(output_);
    const DeviceInfo info = device_info();
    Json backends = Json::array();
    for (const BackendInfo& backend : info.backends) {
      backends.push_back({{"name", backend.name}, {"available", backend.available}, {"reason", backend.reason}});
    }
    session.json()["cpu"] = info.cpu;
    session.json()["threads"] = info.threads;
    session.json()["memory_total"] = info.memory_total;
    session.json()["memory_available"] = info.memory_available;
    session.json()["backends"] = backends;
    session.json()["gpus"] = gpus_json(info);
    const FilesInfo files = files_info();
    session.json()["files"] = {{"available", files.available}, {"formats", files.formats}, {"reason", files.reason}};
    if (writes) write_text(output_path(output_), text(info, files));
  }

 private:
  static std::string text(const DeviceInfo& info, const FilesInfo& files) {
    std::string text = fmt::format("cpu      {}\nthreads  {}\nmemory   {} of {} available\n\nback ends\n", info.cpu,
                                   info.threads, format_bytes(info.memory_available), format_bytes(info.memory_total));
    std::size_t width = 0;
    for (const BackendInfo& backend : info.backends) width = std::max(width, backend.name.size());
    for (const BackendInfo& backend : info.backends) {
      text += fmt::format("  {:<{}}  {:<3}  {}\n", backend.name, width, backend.available ? "yes" : "no",
                          one_line(backend.reason));
    }
    text +=
        fmt::format("\nplug-in for files\n  {:<{}}  {:<3}  {}\n", files.available ? files.formats : "Parquet, Arrow",
                    width, files.available ? "yes" : "no", one_line(files.reason));
    if (!info.gpus.empty()) text += "\ngpus\n";
    for (const GpuInfo& gpu : info.gpus) {
      text += fmt::format("  {:<{}}  {:<3}  {}, {}, {}, {} multiprocessors, driver for {}{}{}\n", gpu.index, width,
                          gpu.available ? "yes" : "no", one_line(gpu.name), gpu.arch, format_bytes(gpu.memory_total),
                          gpu.multiprocessors, gpu.driver, gpu.uuid.empty() ? "" : ", " + one_line(gpu.uuid),
                          gpu.reason.empty() ? "" : ": " + gpu.reason);
    }
    return text;
  }

  static Json gpus_json(const DeviceInfo& info) {
    Json gpus = Json::array();
    for (const GpuInfo& gpu : info.gpus) {
      gpus.push_back({{"index", gpu.index},
                      {"name", gpu.name},
                      {"uuid", gpu.uuid},
                      {"arch", gpu.arch},
                      {"driver", gpu.driver},
                      {"memory_total", gpu.memory_total},
                      {"multiprocessors", gpu.multiprocessors},
                      {"available", gpu.available},
                      {"reason", gpu.reason}});
    }
    return gpus;
  }

  std::string output_;
};

}  // namespace

std::unique_ptr<Command> add_device(CLI::App& program) {
  return std::make_unique<Device>(program);
}

}  // namespace stope::cli
