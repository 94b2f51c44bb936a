#include "page/outcome.hpp"

namespace stope::cli::page {

void write_absence(Markup& out, const std::string& why) {
  out.element("div", {{"class", "note"}}, [&] { out.element("p", "This part could not be computed: " + why + "."); });
}

}  // namespace stope::cli::page
