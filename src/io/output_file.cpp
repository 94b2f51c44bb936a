// The public face of the atomic writer and of the number writer, for front ends that stream their results.
#include "io/atomic_file.hpp"
#include "io/number.hpp"
#include "stope/io.hpp"

namespace stope {

OutputFile::OutputFile(const std::string& path) : path_(path), file_(std::make_unique<io::AtomicFile>(path)) {}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

void OutputFile::write(std::string_view bytes) {
  file_->write(bytes);
}
void OutputFile::commit() {
  file_->commit();
}

void OutputFile::commit_all(const std::vector<OutputFile*>& files) {
  std::vector<io::AtomicFile*> inner;
  inner.reserve(files.size());
  for (OutputFile* file : files) inner.push_back(file->file_.get());
  io::commit_all(inner);
}

void append_number(std::string& out, double value) {
  io::append_number(out, value);
}

}  // namespace stope
