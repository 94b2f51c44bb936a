#include "io/columnar/plugin_file.hpp"

#include <exception>

namespace stope::io::columnar {

// Where the plug-in's reads of a pipe end. No exception may pass through it, so that it waits here.
struct PluginFile::Pipe {
  ReadBytes read;
  std::exception_ptr failure;

  static std::int64_t call(void* context, std::uint8_t* to, std::int64_t size) noexcept {
    auto* const pipe = static_cast<Pipe*>(context);
    try {
      return pipe->read(reinterpret_cast<char*>(to), size);
    } catch (...) {
      pipe->failure = std::current_exception();
      return -1;
    }
  }
};

PluginFile::PluginFile(const StopeFilesFunctions& plugin, StopeFilesFormat format, const Bytes& bytes)
    : plugin_(plugin), name_(bytes.name), file_(nullptr, Close{&plugin}) {
  StopeFilesFile* file = nullptr;
  StopeFilesFailure failure{};
  check(plugin_.open(format, lend(bytes), &file, &failure), failure);
  file_.reset(file);
}

PluginFile::PluginFile(const StopeFilesFunctions& plugin, ReadBytes read, std::string name)
    : plugin_(plugin), name_(std::move(name)), pipe_(std::make_shared<Pipe>()), file_(nullptr, Close{&plugin}) {
  pipe_->read = std::move(read);
  StopeFilesFile* file = nullptr;
  StopeFilesFailure failure{};
  check(plugin_.open_source({pipe_.get(), &Pipe::call}, &file, &failure), failure);
  file_.reset(file);
}

ArrowSchemaPtr PluginFile::schema() const {
  ArrowSchemaPtr schema;
  StopeFilesFailure failure{};
  check(plugin_.schema(file_.get(), schema.get(), &failure), failure);
  return schema;
}

StopeFilesFacts PluginFile::prepare(const std::vector<std::int64_t>& columns, std::int64_t limit) {
  StopeFilesFacts facts{};
  StopeFilesFailure failure{};
  check(plugin_.prepare(file_.get(), columns.data(), std::ssize(columns), limit, &facts, &failure), failure);
  return facts;
}

Rows PluginFile::read(std::int64_t first_group, std::int64_t n_groups, const std::vector<std::int64_t>& columns,
                      std::int64_t batch_rows) const {
  Rows rows;
  StopeFilesFailure failure{};
  check(plugin_.read(file_.get(), first_group, n_groups, columns.data(), std::ssize(columns), batch_rows, rows.get(),
                     &failure),
        failure);
  return rows;
}

arrow::Owned<ArrowArray> PluginFile::next(Rows& rows) const {
  ArrowArray given{};
  check_stream(rows->get_next(rows.get(), &given), rows);
  return arrow::Owned<ArrowArray>(&given);
}

ArrowSchemaPtr PluginFile::schema_of(Rows& rows) const {
  ArrowSchema given{};
  check_stream(rows->get_schema(rows.get(), &given), rows);
  return ArrowSchemaPtr(&given);
}

void PluginFile::check(std::int32_t code, const StopeFilesFailure& failure) const {
  if (code == kStopeFilesOk) return;
  if (pipe_ != nullptr && pipe_->failure != nullptr) std::rethrow_exception(pipe_->failure);
  throw_files_failure(failure, name_);
}

void PluginFile::check_stream(std::int32_t code, Rows& rows) const {
  if (code == 0) return;
  if (pipe_ != nullptr && pipe_->failure != nullptr) std::rethrow_exception(pipe_->failure);
  throw_files_failure(*rows.get(), name_);
}

void PluginFile::explain(const Error& error) const {
  if (pipe_ != nullptr && pipe_->failure != nullptr) std::rethrow_exception(pipe_->failure);
  if (error.code() != ErrorCode::io) throw error;
  throw_files_failure(error.message(), name_);
}

}  // namespace stope::io::columnar
