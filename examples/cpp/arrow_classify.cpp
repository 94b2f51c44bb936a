// Arrow in and out: a C function that any program with Arrow tables can call, through ctypes, JNI, P/Invoke or .Call.
// The tables come and go as streams of the Arrow C interface; no Arrow library is needed here.
#include <cerrno>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "stope/stope.hpp"

namespace {

stope::Table predictions(ArrowArrayStream* train_stream, ArrowArrayStream* test_stream, const char* target) {
  stope::ArrowOptions read;
  read.target = target;
  read.target_is_nominal = true;
  const stope::Table train = stope::import_arrow(train_stream, read);
  read.unknown_columns = stope::UnknownColumns::skip;  // the rows to classify need no label
  const stope::Table test = stope::import_arrow(test_stream, read);

  stope::KnnOptions options;
  options.metric.name = "gower";  // scales each attribute by its range, so no normalisation is needed
  stope::VoteOptions vote;
  vote.n_neighbors = 3;
  const stope::Classification result = stope::KnnClassifier::fit(train, options).predict(test, vote);

  stope::Table table;
  table.n_rows = static_cast<std::int64_t>(result.codes.size());
  table.columns.push_back(stope::make_nominal("prediction", result.codes, result.classes));
  return table;
}

}  // namespace

/// Classifies the rows of `test` and gives one column, `prediction`, as a stream. Takes both streams over, also when it
/// fails. Returns 0, or an errno value with a message of up to `room` bytes.
extern "C" int classify_arrow(ArrowArrayStream* train, ArrowArrayStream* test, const char* target,
                              ArrowArrayStream* result, char* message, std::int64_t room) {
  std::string text;
  try {
    stope::export_arrow(predictions(train, test, target), result);
    return 0;
  } catch (const std::exception& error) {
    text = error.what();
  }
  // import_arrow releases what it was given. If the first call fails, the second stream is still the caller's.
  if (test->release != nullptr) test->release(test);
  if (room > 0) message[text.copy(message, static_cast<std::size_t>(room) - 1)] = '\0';
  return EINVAL;
}
