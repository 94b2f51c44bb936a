#include "page/markup.hpp"

#include <fmt/format.h>

#include <cmath>

#include "page/words.hpp"
#include "report/session.hpp"

namespace stope::cli::page {
namespace {

// U+FFFE and U+FFFF are UTF-8, but no characters of XML.
bool is_no_character(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "\xEF\xBF" && at + 2 < text.size() && static_cast<unsigned char>(text[at + 2]) >= 0xBEU;
}

std::string without_marks(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == kNameBegins || c == kNameEnds; });
  return plain;
}

std::string escaped(std::string_view text) {
  const std::string line = one_line(text);
  std::string out;
  out.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    switch (line[i]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        if (is_no_character(line, i)) {
          out += "\xEF\xBF\xBD";
          i += 2;
        } else {
          out += line[i];
        }
    }
  }
  return out;
}

}  // namespace

std::string attribute_number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

void Markup::open(Literal tag, Attributes attributes) {
  out_ += '<';
  out_ += tag.text();
  for (const Attribute& attribute : attributes) {
    out_ += ' ';
    out_ += attribute.name.text();
    out_ += "=\"";
    out_ += escaped(without_marks(attribute.value));
    out_ += '"';
  }
  out_ += '>';
}

void Markup::close(Literal tag) {
  out_ += "</";
  out_ += tag.text();
  out_ += '>';
  // Lines of moderate length, broken only where a line end changes nothing that is seen.
  const std::string_view name = tag.text();
  if (name == "section" || name == "tr" || name == "figure" || name == "svg" || name == "p" || name == "li" ||
      name == "g" || name == "style" || name == "head") {
    out_ += '\n';
  }
}

void Markup::element(Literal tag, Attributes attributes, std::string_view inner) {
  open(tag, attributes);
  text(inner);
  close(tag);
}

void Markup::empty(Literal tag, Attributes attributes) {
  open(tag, attributes);
  out_.back() = '/';
  out_ += '>';
}

void Markup::label(Literal tag, Attributes attributes, std::string_view inner) {
  open(tag, attributes);
  label(inner);
  close(tag);
}

void Markup::label(std::string_view inner) {
  out_ += escaped(without_marks(inner));
}

void Markup::text(std::string_view inner) {
  for (;;) {
    const std::size_t begin = inner.find(kNameBegins);
    const std::size_t end = begin == std::string_view::npos ? begin : inner.find(kNameEnds, begin);
    if (end == std::string_view::npos) break;
    out_ += escaped(inner.substr(0, begin));
    name(inner.substr(begin + 1, end - begin - 1));
    inner.remove_prefix(end + 1);
  }
  out_ += escaped(inner);
}

}  // namespace stope::cli::page
