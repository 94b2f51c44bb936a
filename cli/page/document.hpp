// The page as a whole: one file that asks for nothing, with sections that the navigation names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "page/markup.hpp"

namespace stope::cli::page {

struct Section {
  std::string id, title;
  std::function<void(Markup&)> write;
};

struct Document {
  std::string title;     ///< of the page, and its one h1
  std::string subtitle;  ///< a sentence below it
  std::vector<Section> sections;
  std::string made_by;  ///< the last line
};

/// The whole file, ended by a line end.
std::string document_text(const Document& document);

}  // namespace stope::cli::page
