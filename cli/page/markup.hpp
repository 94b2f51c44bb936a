// Writes HTML and SVG. Text is never markup: the names of elements and attributes are literals of this program, and all
// else is escaped on its way out. The text is well-formed XML, too, so that tests and other programs can take it apart.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace stope::cli::page {

/// A text that stands in the program's source. No table can make one.
class Literal {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is written where one is wanted
  consteval Literal(const char* text) : text_(text) {}
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// A number as an attribute holds it: two decimals at most.
std::string attribute_number(double value);

struct Attribute {
  Attribute(Literal n, std::string v) : name(n), value(std::move(v)) {}
  Attribute(Literal n, std::string_view v) : name(n), value(v) {}
  Attribute(Literal n, const char* v) : name(n), value(v) {}
  template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  Attribute(Literal n, Number v) : name(n), value(attribute_number(static_cast<double>(v))) {}

  Literal name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

class Markup {
 public:
  /// An element with text in it, as text() and label() write it.
  void element(Literal tag, Attributes attributes, std::string_view inner);
  void label(Literal tag, Attributes attributes, std::string_view inner);
  void element(Literal tag, std::string_view inner) { element(tag, {}, inner); }
  /// An element with what `body` writes in it.
  template <class Body>
    requires std::invocable<Body>
  void element(Literal tag, Attributes attributes, const Body& body) {
    open(tag, attributes);
    body();
    close(tag);
  }
  template <class Body>
    requires std::invocable<Body>
  void element(Literal tag, const Body& body) {
    element(tag, {}, body);
  }
  /// An element without content.
  void empty(Literal tag, Attributes attributes = {});
  /// Names that in_quotes() enclosed (page/words.hpp) become elements <bdi>. label() is for SVG, which has none.
  void text(std::string_view inner);
  void label(std::string_view inner);
  /// A text of unknown origin: its direction of writing stays its own.
  void name(std::string_view inner) { element("bdi", {}, inner); }
  /// What is no element: the document's type, the content of <style>.
  void raw(Literal inner) { out_ += inner.text(); }
  void append(const Markup& other) { out_ += other.out_; }

  std::size_t size() const { return out_.size(); }
  const std::string& written() const { return out_; }

 private:
  void open(Literal tag, Attributes attributes);
  void close(Literal tag);

  std::string out_;
};

}  // namespace stope::cli::page
