// A Parquet or Arrow file that the plug-in has open: its columns, its groups of rows, streams of chosen ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/arrow/owned.hpp"
#include "io/bytes.hpp"
#include "io/files_plugin.hpp"

namespace stope::io::columnar {

using ArrowSchemaPtr = arrow::Owned<ArrowSchema>;
using Rows = arrow::Owned<ArrowArrayStream>;

/// Gives the next bytes of a pipe, at most so many; 0 at the end.
using ReadBytes = std::function<std::int64_t(char* to, std::int64_t size)>;

class PluginFile {
 public:
  /// Opens bytes, which the file keeps alive, and all arrays that lie in them. Throws invalid_data or unsupported.
  PluginFile(const StopeFilesFunctions& plugin, StopeFilesFormat format, const Bytes& bytes);
  /// Opens a stream that comes through a pipe. What `read` throws, the functions below throw.
  PluginFile(const StopeFilesFunctions& plugin, ReadBytes read, std::string name);

  ArrowSchemaPtr schema() const;
  bool is_stream() const { return plugin_.n_groups(file_.get()) < 0; }
  std::int64_t n_groups() const { return plugin_.n_groups(file_.get()); }
  std::int64_t rows_of(std::int64_t group) const { return plugin_.rows_of(file_.get(), group); }
  /// Chooses columns, in ascending order, and checks them: no page may become larger than `limit`.
  StopeFilesFacts prepare(const std::vector<std::int64_t>& columns, std::int64_t limit);
  /// The rows of consecutive groups. From any thread.
  Rows read(std::int64_t first_group, std::int64_t n_groups, const std::vector<std::int64_t>& columns,
            std::int64_t batch_rows) const;
  /// The next batch; nothing at the end.
  arrow::Owned<ArrowArray> next(Rows& rows) const;
  ArrowSchemaPtr schema_of(Rows& rows) const;
  /// Throws what import_arrow said of this file's rows, as the functions above would have said it.
  [[noreturn]] void explain(const Error& error) const;
  const std::string& name() const { return name_; }

 private:
  struct Pipe;
  struct Close {
    const StopeFilesFunctions* plugin;
    void operator()(StopeFilesFile* file) const { plugin->close(file); }
  };
  void check(std::int32_t code, const StopeFilesFailure& failure) const;
  void check_stream(std::int32_t code, Rows& rows) const;

  const StopeFilesFunctions& plugin_;
  std::string name_;
  std::shared_ptr<Pipe> pipe_;
  std::unique_ptr<StopeFilesFile, Close> file_;
};

}  // namespace stope::io::columnar
