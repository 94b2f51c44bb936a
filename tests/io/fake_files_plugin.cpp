// Plug-ins for files, for files_plugin_fake_test.cpp: STOPE_FAKE_VERSION and STOPE_FAKE_BYTES say whether they fit. One
// that fits reads sheets by their name, and writes files until a column's name says that it fails.
#include "io/files_abi.h"

#include <cerrno>
#include <string>

#include "io/arrow/producer.hpp"

struct StopeFilesWriter {
  StopeFilesSink sink;
  std::string fails_at;
};

namespace {

using stope::arrow_test::Data;
using stope::arrow_test::strings;

stope::arrow_test::Released released;

std::int32_t refuse(const char* text, StopeFilesFailure* failure) {
  failure->code = kStopeFilesUnsupported;
  std::strncpy(failure->text, text, sizeof failure->text - 1);
  return failure->code;
}

// The text of a sheet; a sheet called "none" has no column, and so on.
std::int32_t read_sheet(StopeFilesBytes bytes, const char* options, std::int64_t, ArrowArrayStream* rows,
                        StopeFilesFailure* failure) {
  bytes.release(bytes.owner);
  const std::string said(options);
  const std::string sheet = said.substr(6, said.find('\n') - 6);
  if (sheet == "unread") return refuse("the workbook has a password", failure);
  std::vector<Data> columns = {strings("text", "U", {"x,n\n1,a\n\"two\nlines\",b\nthree,c\n"})};
  if (sheet == "points") columns = {strings("text", "U", {"x,n\n1.5,a\n"})};
  if (sheet == "open") columns = {strings("text", "U", {"x,n\n1,a\n2,\"b\n"})};
  if (sheet == "empty") columns = {strings("text", "U", {""})};
  if (sheet == "none") columns.clear();
  if (sheet == "two rows") columns = {strings("text", "U", {"x\n", "1\n"})};
  if (sheet == "numbers") columns = {stope::arrow_test::numbers<double>("text", "g", {1})};
  *rows = stope::arrow_test::stream_of({columns}, columns, released, sheet == "fails" ? 0 : -1);
  if (sheet == "ends") rows->get_next = [](ArrowArrayStream*, ArrowArray*) { return 0; };
  return kStopeFilesOk;
}

std::int32_t create(std::int32_t, ArrowSchema* schema, const StopeFilesWriteOptions*, StopeFilesSink sink,
                    StopeFilesWriter** writer, StopeFilesFailure* failure) {
  const std::string first = schema->children[0]->name;
  schema->release(schema);
  if (first == "create") return refuse("create", failure);
  *writer = new StopeFilesWriter{sink, first};
  return kStopeFilesOk;
}

std::int32_t append(StopeFilesWriter* writer, ArrowArray* batch, StopeFilesFailure* failure) {
  batch->release(batch);
  if (writer->fails_at == "append") return refuse("append", failure);
  const std::string rows = writer->fails_at == "much" ? std::string(std::size_t{2} << 20, 'x') : "rows";
  const auto* const data = reinterpret_cast<const std::uint8_t*>(rows.data());
  const bool first = writer->sink.write(writer->sink.context, data, rows.size()) == 0;
  const bool second = writer->sink.write(writer->sink.context, data, rows.size()) == 0;
  if (first != second) return refuse("a write came through after one that failed", failure);
  return first ? kStopeFilesOk : refuse("stopped", failure);
}

std::int32_t finish(StopeFilesWriter* writer, StopeFilesFailure* failure) {
  return writer->fails_at == "finish" ? refuse("finish", failure) : kStopeFilesOk;
}

StopeFilesFunctions made() {
  StopeFilesFunctions functions{};
  functions.version = STOPE_FAKE_VERSION;
  functions.bytes = STOPE_FAKE_BYTES;
  functions.formats = functions.parts = "none";
  functions.create = create;
  functions.append = append;
  functions.finish = finish;
  functions.drop = [](StopeFilesWriter* writer) { delete writer; };
  functions.read_sheet = read_sheet;
  return functions;
}
}  // namespace

extern "C" const StopeFilesFunctions* stope_files() {
  static StopeFilesFunctions functions = made();  // a test takes its sheets away
  return &functions;
}
