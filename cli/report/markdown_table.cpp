#include "report/markdown_table.hpp"

#include <algorithm>

#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kMeasured = 1000;  // rows, besides the names
constexpr std::size_t kNarrowest = 3;    // "--:" needs as many

// A pipe would end the cell and a line break the row. A backslash before a pipe would undo its escape.
std::string escaped(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == '|') {
      text += "\\|";
    } else if (c == '\\' && (i + 1 == value.size() || value[i + 1] == '|')) {
      text += "\\\\";
    } else if (c == '\n') {
      text += "<br>";
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\t') {
      text += c == '\t' ? ' ' : c;
    }
  }
  return text;
}

}  // namespace

void MarkdownTable::text(std::string_view value) {
  cells_.push_back({escaped(value), Kind::text});
}

void MarkdownTable::number(std::string_view digits) {
  cells_.push_back({std::string(digits), Kind::number});
}

void MarkdownTable::end_row(std::string& out) {
  if (measured_) {
    append(out, cells_);
    cells_.clear();
    return;
  }
  held_.push_back(std::move(cells_));
  cells_.clear();
  if (held_.size() > kMeasured) finish(out);
}

void MarkdownTable::measure() {
  widths_.assign(held_.front().size(), kNarrowest);
  right_.assign(held_.front().size(), false);
  for (std::size_t c = 0; c < widths_.size(); ++c) {
    bool text = false;
    for (std::size_t r = 0; r < held_.size(); ++r) {
      if (c >= held_[r].size()) continue;
      const Cell& cell = held_[r][c];
      widths_[c] = std::max(widths_[c], width_of(cell.text));
      if (r == 0) continue;
      text = text || cell.kind == Kind::text;
      right_[c] = right_[c] || cell.kind == Kind::number;
    }
    if (text) right_[c] = false;
  }
  measured_ = true;
}

void MarkdownTable::append(std::string& out, const Row& row) const {
  out += '|';
  for (std::size_t c = 0; c < row.size() && c < widths_.size(); ++c) {
    const std::size_t width = width_of(row[c].text);
    const std::string gap(widths_[c] > width ? widths_[c] - width : 0, ' ');
    out += ' ' + (right_[c] ? gap + row[c].text : row[c].text + gap) + " |";
  }
  out += '\n';
}

void MarkdownTable::finish(std::string& out) {
  if (measured_ || held_.empty()) return;
  measure();
  append(out, held_.front());
  out += '|';
  for (std::size_t c = 0; c < widths_.size(); ++c) {
    out += ' ' + std::string(widths_[c] - 1, '-') + (right_[c] ? ": |" : "- |");
  }
  out += '\n';
  for (std::size_t r = 1; r < held_.size(); ++r) append(out, held_[r]);
  held_.clear();
}

}  // namespace stope::cli
