#include "page/data_table.hpp"

namespace stope::cli::page {

void write_table(Markup& out, const DataTable& table) {
  const auto kind = [&](std::size_t i) { return table.cells[i] == Cell::number ? "n" : "t"; };
  // A wide table scrolls by itself, and the keyboard reaches what scrolls.
  out.element("div", {{"class", "scroll"}, {"tabindex", 0}, {"role", "group"}, {"aria-label", table.caption}}, [&] {
    out.element("table", [&] {
      out.element("caption", table.caption);
      out.element("thead", [&] {
        out.element("tr", [&] {
          for (std::size_t i = 0; i < table.heads.size(); ++i) {
            out.element("th", {{"scope", "col"}, {"class", kind(i)}}, table.heads[i]);
          }
        });
      });
      out.element("tbody", [&] {
        for (const std::vector<std::string>& row : table.rows) {
          out.element("tr", [&] {
            for (std::size_t i = 0; i < row.size(); ++i) {
              if (i == 0) {
                out.element("th", {{"scope", "row"}, {"class", kind(i)}}, row[i]);
              } else {
                out.element("td", {{"class", kind(i)}}, row[i]);
              }
            }
          });
        }
      });
    });
  });
}

void write_folded_table(Markup& out, const DataTable& table, const std::string& summary) {
  if (table.rows.empty()) return;
  out.element("details", [&] {
    out.element("summary", summary);
    write_table(out, table);
  });
}

}  // namespace stope::cli::page
