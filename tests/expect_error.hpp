// Checks that a call fails with an Error of the code and the words that its caller is promised. EXPECT_THROW(...,
// Error) is no such check: a defect of stope, ErrorCode::internal, would pass it.
#pragma once

#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <string_view>

#include "stope/error.hpp"

namespace stope {

/// `words` is a part of Error::what().
template <class Call>
void expect_error(ErrorCode code, std::string_view words, const Call& call,
                  std::source_location where = std::source_location::current()) {
  const auto failed = [&](const std::string& how) {
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
        << how << "; expected " << to_string(code) << ": ..." << words << "...";
  };
  try {
    call();
  } catch (const Error& error) {
    const bool says_it = std::string_view(error.what()).find(words) != std::string_view::npos;
    if (error.code() != code || !says_it) failed(std::string(to_string(error.code())) + ": " + error.what());
    return;
  } catch (const std::exception& error) {
    return failed(std::string("no stope::Error: ") + error.what());
  }
  failed("no error");
}

}  // namespace stope
