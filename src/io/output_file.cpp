// The public face of the atomic writer and of the number writer, for front ends that stream their results.
#include <limits>

#include "base/guarded.hpp"
#include "io/atomic_file.hpp"
#include "io/number.hpp"
#include "stope/io.hpp"

namespace stope {

OutputFile::OutputFile(const std::string& path) try : OutputFile(path, CancelToken{}) {
} catch (...) {
  rethrow_as_error();
}
OutputFile::OutputFile(const std::string& path, const CancelToken& cancel) try
    : path_(path), file_(std::make_unique<io::AtomicFile>(path, cancel)) {
} catch (...) {
  rethrow_as_error();
}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

void OutputFile::require_space(std::int64_t bytes) const try { file_->require_space(bytes); } catch (...) {
  rethrow_as_error();
}

void OutputFile::require_space(std::int64_t rows, std::int64_t values_per_row, std::int64_t bytes_per_value) const try {
  std::int64_t bytes = 0;
  const bool wraps =
      __builtin_mul_overflow(rows, values_per_row, &bytes) || __builtin_mul_overflow(bytes, bytes_per_value, &bytes);
  file_->require_space(wraps ? std::numeric_limits<std::int64_t>::max() : bytes);
} catch (...) {
  rethrow_as_error();
}

void OutputFile::write(std::string_view bytes) try { file_->write(bytes); } catch (...) {
  rethrow_as_error();
}
void OutputFile::commit() try { file_->commit(); } catch (...) {
  rethrow_as_error();
}

void OutputFile::commit_all(const std::vector<OutputFile*>& files) try {
  std::vector<io::AtomicFile*> inner;
  inner.reserve(files.size());
  for (OutputFile* file : files) inner.push_back(file->file_.get());
  io::commit_all(inner);
} catch (...) {
  rethrow_as_error();
}

void append_number(std::string& out, double value) try { io::append_number(out, value); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
