#include "page/figure.hpp"

namespace stope::cli::page {
namespace {

void write_picture(Markup& out, const Figure& figure, const std::function<void(Markup&)>& draw) {
  const std::string box = "0 0 " + attribute_number(figure.size.width) + " " + attribute_number(figure.size.height);
  out.element("svg",
              {{"xmlns", "http://www.w3.org/2000/svg"},
               {"role", "img"},
               {"viewBox", box},
               {"width", figure.size.width},
               {"height", figure.size.height},
               {"aria-labelledby", figure.id + "-t " + figure.id + "-d"}},
              [&] {
                out.label("title", {{"id", figure.id + "-t"}}, figure.title);
                out.label("desc", {{"id", figure.id + "-d"}}, figure.message);
                draw(out);
              });
}

}  // namespace

void write_figure(Markup& out, const Figure& figure, const std::function<void(Markup&)>& draw,
                  const DataTable& numbers) {
  out.element("figure", [&] {
    if (figure.narrow == Narrow::fit) {
      write_picture(out, figure, draw);
    } else {
      out.element("div", {{"class", "scroll"}, {"tabindex", 0}, {"role", "group"}, {"aria-label", figure.title}},
                  [&] { write_picture(out, figure, draw); });
    }
    if (!figure.caption.empty()) out.element("figcaption", figure.caption);
    write_folded_table(out, numbers);
  });
}

}  // namespace stope::cli::page
