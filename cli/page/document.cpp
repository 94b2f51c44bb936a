#include "page/document.hpp"

#include "page/style.hpp"

namespace stope::cli::page {
namespace {

// The page may load nothing and run nothing, whatever a table puts into it.
constexpr const char* kPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

void write_head(Markup& out, const Document& document) {
  out.element("head", [&] {
    out.empty("meta", {{"charset", "utf-8"}});
    out.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", kPolicy}});
    out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    out.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    out.empty("meta", {{"name", "generator"}, {"content", document.made_by}});
    out.label("title", {}, document.title);
    write_style(out);
  });
}

void write_navigation(Markup& out, const std::vector<Section>& sections) {
  if (sections.size() < 2) return;
  out.element("nav", {{"aria-label", "Sections of this page"}}, [&] {
    out.element("div", {{"class", "wrap"}}, [&] {
      out.element("ul", [&] {
        for (const Section& section : sections) {
          out.element("li", [&] { out.element("a", {{"href", "#" + section.id}}, section.title); });
        }
      });
    });
  });
}

void write_section(Markup& out, const Section& section) {
  out.element("section", {{"id", section.id}, {"aria-labelledby", section.id + "-title"}}, [&] {
    out.element("h2", {{"id", section.id + "-title"}}, section.title);
    section.write(out);
  });
}

}  // namespace

std::string document_text(const Document& document) {
  Markup out;
  out.raw("<!DOCTYPE html>\n");
  out.element("html", {{"lang", "en"}}, [&] {
    write_head(out, document);
    out.element("body", [&] {
      out.element("a", {{"class", "skip"}, {"href", "#content"}}, "Skip to the content");
      write_textures(out);
      out.element("header", [&] {
        out.element("div", {{"class", "wrap"}}, [&] {
          out.element("h1", document.title);
          out.element("p", {{"class", "soft"}}, document.subtitle);
        });
      });
      write_navigation(out, document.sections);
      out.element("main", {{"id", "content"}, {"tabindex", "-1"}, {"class", "wrap"}}, [&] {
        for (const Section& section : document.sections) write_section(out, section);
      });
      out.element("footer", [&] { out.element("div", {{"class", "wrap"}}, document.made_by); });
    });
  });
  return out.written() + "\n";
}

}  // namespace stope::cli::page
