// A mutator of NPY files: dtype, order and shape change, the header's length and the data follow or do not.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "mutate.hpp"

namespace stope::fuzz {

class NpyMutator {
 public:
  explicit NpyMutator(Choices& choices) : choices_(choices) {}

  /// The file after one mutation; empty if the bytes are no NPY file.
  std::string mutated(std::string_view bytes) {
    constexpr std::size_t kMark = 8;  // magic and version
    if (bytes.size() < kMark + 4 || bytes.substr(1, 5) != "NUMPY") return {};
    const bool wide = bytes[6] != 1;
    const std::size_t begin = kMark + (wide ? 4 : 2);
    const std::size_t length = read_length(bytes, wide);
    if (length > bytes.size() - begin) return {};
    std::string header(bytes.substr(begin, length));
    std::string data(bytes.substr(begin + length));
    for (std::size_t n = 1 + choices_.below(3); n > 0; --n) change(header, data);
    if (choices_.one_in(2)) fit(header, data);
    return written(std::string(bytes.substr(0, kMark)), header) + data;
  }

 private:
  static std::size_t read_length(std::string_view bytes, bool wide) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < (wide ? 4U : 2U); ++i)
      length |= static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[8 + i])) << (8 * i);
    return length;
  }

  std::string written(std::string mark, const std::string& header) {
    if (choices_.one_in(8)) mark[6] = static_cast<char>(choices_.below(5));
    const std::uint64_t length = choices_.one_in(20) ? choices_.of(kLies) : header.size();
    for (std::size_t i = 0; i < (mark[6] == 1 ? 2U : 4U); ++i) mark += static_cast<char>(length >> (8 * i) & 0xff);
    return mark + header;
  }

  // Replaces what stands between two marks, if both occur.
  static void replace_between(std::string& text, std::string_view open, std::string_view close,
                              const std::string& with) {
    const std::size_t at = text.find(open);
    if (at == std::string::npos) return;
    const std::size_t begin = at + open.size(), end = text.find(close, begin);
    if (end != std::string::npos) text.replace(begin, end - begin, with);
  }

  std::string size_text() {
    return choices_.one_in(4) ? std::to_string(choices_.of(kLies)) : std::to_string(choices_.below(70));
  }

  std::string shape() {
    std::string text;
    const std::size_t n = choices_.one_in(4) ? choices_.below(5) : 1 + choices_.below(2);
    for (std::size_t i = 0; i < n; ++i) text += (i > 0 ? ", " : "") + size_text() + (choices_.one_in(20) ? "L" : "");
    return text + (n == 1 ? "," : "");
  }

  void change(std::string& header, std::string& data) {
    switch (choices_.below(7)) {
      case 0: replace_between(header, "'descr': '", "'", std::string(choices_.of(kTypes))); break;
      case 1: replace_between(header, "'fortran_order': ", ",", choices_.one_in(2) ? "True" : "False"); break;
      case 2:
      case 3: replace_between(header, "(", ")", shape()); break;
      case 4: header = mutated_by_libfuzzer(header, header.size() + 16); break;
      case 5: cell(data); break;
      default: data.resize(choices_.below(data.size() + 16), '\1');
    }
  }

  void cell(std::string& data) {
    const double number = choices_.of(kNumbers);
    if (data.size() >= sizeof number)
      std::memcpy(data.data() + choices_.below(data.size() / sizeof number) * sizeof number, &number, sizeof number);
  }

  // Makes the data as long as the header says, if that is short.
  static void fit(const std::string& header, std::string& data) {
    const std::size_t at = header.find('('), type = header.find("'descr': '");
    if (at == std::string::npos || type == std::string::npos) return;
    std::size_t size = 1, n = 0;
    bool digits = false;
    for (std::size_t i = at + 1; i < header.size() && header[i] != ')' && n < 10000; ++i) {
      const bool digit = header[i] >= '0' && header[i] <= '9';
      if (digit) n = n * 10 + static_cast<std::size_t>(header[i] - '0');
      if (digits && !digit) size *= std::exchange(n, 0);
      digits = digit;
      if (size > 10000) return;
    }
    const std::size_t width_at = header.find_first_of("1248", type + 10);
    if (n > 0 || width_at == std::string::npos) return;
    data.resize(size * static_cast<std::size_t>(header[width_at] - '0'), '\2');
  }

  static constexpr std::array<std::string_view, 16> kTypes{"<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2",
                                                           "<u4", "|b1", ">f8", "<f2", "=f4", "<U4", "|O",  "f8"};
  Choices& choices_;
};

inline std::size_t mutate_npy(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return mutate_with(data, size, most, seed, [&](const std::string& input, Choices& choices) {
    return choices.one_in(4) ? std::string() : NpyMutator(choices).mutated(input);
  });
}

}  // namespace stope::fuzz
