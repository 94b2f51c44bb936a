// The report of any job as RunOptions::report gets it, without knowing its type.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stope/backend_report.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// What a job did, whatever its kind; valid while the callback runs. A job inside another job (a search inside an
/// evaluation) hands out its own report first, so the last report of a call is the call's.
class Report {
 public:
  virtual ~Report() = default;
  virtual std::string_view job() const = 0;                ///< "search", "statistics", "pca", ...
  virtual const BackendReport& backend() const = 0;        ///< the part that all reports have
  virtual std::string to_json() const = 0;                 ///< one JSON object
  virtual std::string to_text() const = 0;                 ///< lines for people, as --explain prints them
  virtual std::shared_ptr<const Report> copy() const = 0;  ///< one that lasts: texts take longer than a small job
};

/// 1234567 -> "1.23 MB".
std::string format_bytes(std::int64_t bytes);

}  // namespace stope
#pragma GCC visibility pop
