// What 'stope help TOPIC' explains beside the commands: formats, missing values, measures, exit codes, JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stope::cli {

struct HelpTopic {
  std::string_view name;     ///< as in 'stope help formats'
  std::string_view summary;  ///< one line
  std::string_view text;     ///< lines that a terminal and a man page show as they are
};

/// The topics, without metrics, whose text is made from the measures (metrics_text).
const std::vector<HelpTopic>& help_topics();

}  // namespace stope::cli
