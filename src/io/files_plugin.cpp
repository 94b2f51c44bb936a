#include "io/files_plugin.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <charconv>
#include <memory>

#include "base/environment.hpp"
#include "base/guarded.hpp"
#include "base/own_folder.hpp"
#include "stope/arrow.hpp"
#include "stope/files.hpp"

namespace stope::io {
namespace {

FilesPlugin find_and_load() {
  const std::string named(environment::text(environment::Variable::files_plugin));
  if (!named.empty()) return load_files_plugin(named);
  const std::string folder = own_folder();
  const std::string places[] = {folder, folder + "/../" STOPE_LIBRARY_FOLDER};
  for (const std::string& place : places) {
    const std::string path = place + "/" + kFilesPluginName;
    if (::access(path.c_str(), F_OK) == 0) return load_files_plugin(path);
  }
  FilesPlugin off;
#if STOPE_WITH_FILES
  off.reason = std::string("the plug-in ") + kFilesPluginName + " is not in " + places[0] + " or " + places[1] +
               " (STOPE_FILES_PLUGIN names another place)";
#else
  off.reason = "not built into this version";
#endif
  return off;
}

ErrorCode code_of(std::int32_t code) {
  switch (code) {
    case kStopeFilesInvalid: return ErrorCode::invalid_data;
    case kStopeFilesUnsupported: return ErrorCode::unsupported;
    case kStopeFilesMemory: return ErrorCode::out_of_memory;
    default: return ErrorCode::internal;
  }
}

}  // namespace

FilesPlugin load_files_plugin(const std::string& path) {
  FilesPlugin plugin;
  plugin.path = path;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
    plugin.reason = "the plug-in cannot be loaded: " + std::string(why == nullptr ? path : why);
    return plugin;
  }
  const auto entry = reinterpret_cast<StopeFilesEntry>(dlsym(library, STOPE_FILES_ENTRY));
  const StopeFilesFunctions* const functions = entry == nullptr ? nullptr : entry();
  if (functions == nullptr) {
    plugin.reason = path + " is not a plug-in of stope for files";
  } else if (functions->version != kStopeFilesVersion) {
    plugin.reason = "the plug-in " + path + " has version " + std::to_string(functions->version) +
                    ", this library needs " + std::to_string(kStopeFilesVersion);
  } else if (functions->bytes != sizeof(StopeFilesFunctions)) {
    // Only now are the members after `bytes` known to be where this library looks for them.
    plugin.reason = "the plug-in " + path + " has a table of " + std::to_string(functions->bytes) +
                    " bytes, this library needs " + std::to_string(sizeof(StopeFilesFunctions)) +
                    " (both have version " + std::to_string(kStopeFilesVersion) + ")";
  } else {
    plugin.functions = functions;
  }
  return plugin;
}

const FilesPlugin& files_plugin() {
  static const FilesPlugin plugin = find_and_load();
  return plugin;
}

const StopeFilesFunctions& files_functions(std::string_view format, const std::string& name, FilesUse use) {
  const FilesPlugin& plugin = files_plugin();
  if (plugin.functions != nullptr) return *plugin.functions;
  if (use == FilesUse::write) {
    throw Error(ErrorCode::unsupported,
                "only the plug-in for files writes " + std::string(format) + ": " + plugin.reason +
                    "; build stope where Rust's cargo is (https://rustup.rs), or write CSV",
                {name});
  }
  throw Error(ErrorCode::unsupported,
              "is " + std::string(format) + ", which only the plug-in for files reads and writes: " + plugin.reason +
                  "; build stope where Rust's cargo is (https://rustup.rs), or: duckdb -csv -c \"FROM '" + name +
                  "'\" | stope info -",
              {name});
}

StopeFilesBytes lend(const Bytes& bytes) {
  auto owner = std::make_unique<std::shared_ptr<const void>>(bytes.owner);
  const auto give_back = [](void* held) {
    const std::unique_ptr<std::shared_ptr<const void>> ended(static_cast<std::shared_ptr<const void>*>(held));
  };
  return {reinterpret_cast<const std::uint8_t*>(bytes.view.data()), bytes.view.size(), owner.release(), give_back};
}

void throw_files_failure(const StopeFilesFailure& failure, const std::string& name) {
  throw Error(code_of(failure.code), failure.text, {name});
}

void throw_files_failure(std::string_view said, const std::string& name) {
  // "External error: 1|the text": the name of the kind of error, the code, the text.
  const std::size_t bar = said.find('|');
  std::int32_t code = kStopeFilesInvalid;
  if (bar != std::string_view::npos && bar > 0) {
    std::from_chars(said.data() + bar - 1, said.data() + bar, code);
    said.remove_prefix(bar + 1);
  }
  throw Error(code_of(code), std::string(said), {name});
}

void throw_files_failure(ArrowArrayStream& rows, const std::string& name) {
  const char* const said = rows.get_last_error(&rows);
  throw_files_failure(said == nullptr ? std::string_view("its reader does not say what is wrong") : said, name);
}

}  // namespace stope::io

namespace stope {

FilesInfo files_info() try {
  const io::FilesPlugin& plugin = io::files_plugin();
  if (plugin.functions == nullptr) return {false, "", plugin.reason};
  return {true, plugin.functions->formats, plugin.path + ", " + plugin.functions->parts};
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
