#include "io/foreign_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>

#include "io/number.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

using std::string_view_literals::operator""sv;

// How a format becomes CSV. FILE stands for the file's name.
constexpr std::string_view kDuckdb = "duckdb -csv -c \"FROM 'FILE'\" > table.csv";
constexpr std::string_view kParquet = "give it a name that ends in .parquet";
constexpr std::string_view kArrow = "give it a name that ends in .arrow";
constexpr std::string_view kSheet = "save the sheet as CSV, or: libreoffice --headless --convert-to csv 'FILE'";
constexpr std::string_view kTar = "tar -xOf 'FILE' | stope info -";
constexpr std::string_view kUtf32 = "iconv -f UTF-32 -t UTF-8 'FILE' | stope info -";
constexpr std::string_view kRds = "write.csv(readRDS('FILE'), 'table.csv', row.names = FALSE) in R";
constexpr std::string_view kPacked = "7z x 'FILE' unpacks it";

struct MagicNumber {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
  std::string_view way;
  std::string_view end = {};  // "PAR1,PAR2" is a header, too: the file has to end like this
  std::size_t behind_end = 0;
};

// The first row that fits counts: a sheet is a ZIP archive, too.
constexpr std::array<MagicNumber, 37> kMagicNumbers = {{
    {0, "\x89STOPE\r\n", "a stope model", "stope predict 'FILE' TABLE applies it, stope info 'FILE' shows it"},
    {0, "\xFF\xFE\0\0"sv, "text in UTF-32", kUtf32},
    {0, "\0\0\xFE\xFF"sv, "text in UTF-32", kUtf32},
    {0, "PAR1", "a Parquet file", kParquet, "PAR1"},
    {0, "ARROW1\0\0"sv, "an Arrow file (Feather)", kArrow},
    {0, "FEA1", "a Feather file", kArrow, "FEA1"},
    {0, "\xFF\xFF\xFF\xFF"sv, "an Arrow stream", kArrow},
    {0, "ORC", "an ORC file", "pandas.read_orc('FILE').to_csv('table.csv', index=False)", "ORC", 1},
    {0, "Obj\x01", "an Avro file", kDuckdb},
    {30, "[Content_Types].xml", "an Excel file (XLSX)", kSheet},
    {30, "_rels/.rels", "an Excel file (XLSX)", kSheet},
    {30, "xl/", "an Excel file (XLSX)", kSheet},
    {30, "docProps/", "an Excel file (XLSX)", kSheet},
    {30, "mimetypeapplication/vnd.oasis.opendocument", "an OpenDocument file", kSheet},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Excel file (XLS)", kSheet},
    {0, "PK\x03\x04", "a ZIP archive", "unzip -p 'FILE' | stope info -"},
    {0, "PK\x05\x06", "an empty ZIP archive", "there is nothing in it"},
    {0, "SQLite format 3\0"sv, "an SQLite database", "sqlite3 -header -csv 'FILE' 'SELECT * FROM t' > table.csv"},
    {0,
     "\xFD"
     "7zXZ\0"sv,
     "compressed by xz", "xz -dc 'FILE' | stope info -"},
    {4, "1AY&SY", "compressed by bzip2", "bzip2 -dc 'FILE' | stope info -"},
    {0, "\x04\x22\x4D\x18", "compressed by lz4", "lz4 -dc 'FILE' | stope info -"},
    {0, "7z\xBC\xAF\x27\x1C", "a 7z archive", kPacked},
    {257, "ustar\0"sv, "a tar archive", kTar},
    {257, "ustar  \0"sv, "a tar archive", kTar},
    {0, "\x89HDF\r\n\x1A\n", "an HDF5 file", "pandas.read_hdf('FILE').to_csv('table.csv', index=False)"},
    {0, "MATLAB 5.0 MAT-file", "a MATLAB file", "writematrix(X, 'table.csv') in MATLAB"},
    {0, "RDX3\n", "an R workspace", "write.csv(x, 'table.csv', row.names = FALSE) in R"},
    {0, "RDX2\n", "an R workspace", "write.csv(x, 'table.csv', row.names = FALSE) in R"},
    {0, "X\n\0\0\0\x02"sv, "an R object (RDS)", kRds},
    {0, "X\n\0\0\0\x03"sv, "an R object (RDS)", kRds},
    {0, "A\n2\n", "an R object (RDS)", kRds, "\n"},
    {0, "$FL2@(#)", "an SPSS file", "pandas.read_spss('FILE').to_csv('table.csv', index=False)"},
    {0, "<stata_dta>", "a Stata file", "pandas.read_stata('FILE').to_csv('table.csv', index=False)"},
    {0, "\x89PNG\r\n\x1A\n", "a PNG image", "numpy.save('table.npy', ...) writes its numbers"},
    {0,
     "\x7F"
     "ELF",
     "a program", "run it, and save the table that it prints"},
    {0, "%PDF-", "a PDF document", "only its source has the numbers"},
    // The second half of its header is zero. Other binary formats may have zeros there, so this comes last.
    {8, "\0\0\0\0\0\0\0\0"sv, "a gram file", "stope ata 'FILE' multiplies it"},
}};

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// What comes through a pipe has no name that another program could open.
bool is_pipe(const std::string& name) {
  return name == "<stdin>" || name.starts_with("/dev/fd/") || name.starts_with("/dev/stdin");
}

[[noreturn]] void refuse(const std::string& name, std::string_view what, std::string_view way) {
  std::string text(way);
  if (way == kParquet || way == kArrow) {
    throw Error(ErrorCode::unsupported, "is " + std::string(what) + ", and is to be read as text: " + text, {name});
  }
  if (!is_pipe(name)) {
    replace_all(text, "FILE", name);
  } else if (text.find("'FILE'") != std::string::npos) {
    replace_all(text, "'FILE'", "FILE");
    text = "save it as FILE, then " + text;
  }
  throw Error(ErrorCode::unsupported,
              "is " + std::string(what) + ", which is not read as a table; the way round: " + text, {name});
}

bool has_name_of(std::string_view bytes, std::string_view suffix) {
  // The name of a ZIP archive's first member, whose length stands at byte 26.
  if (bytes.size() < 30) return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[26]) |
                                               static_cast<unsigned>(static_cast<unsigned char>(bytes[27])) << 8);
  return bytes.substr(30, length).ends_with(suffix);
}

// Python's pickles of protocol 2 and later begin with 0x80 and the protocol, and end with a full stop.
bool is_pickle(std::string_view bytes) {
  return bytes.size() > 4 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && bytes.back() == '.';
}

std::string_view without_blanks(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

bool is_json(std::string_view text) {
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
  const std::string_view inside = without_blanks(text.substr(1));
  if (inside.empty()) return false;
  return text[0] == '{' ? inside[0] == '"' || inside[0] == '}' : inside[0] == '{' || inside[0] == '[';
}

// A line such as "+1 3:0.5 17:-2": a label, then ascending indices with values.
bool is_libsvm(std::string_view line) {
  std::int64_t last = -1, n = 0;
  double value = 0;
  for (bool label = true; !line.empty(); label = false) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    if (label) {
      if (!parse_number(word, value)) return false;
      continue;
    }
    // The query of a ranking; it stands behind the label.
    if (n == 0 && word.starts_with("qid:") && parse_number(word.substr(4), value)) continue;
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos || !parse_number(word.substr(colon + 1), value)) return false;
    std::int64_t index = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + colon, index);
    if (error != std::errc() || stop != word.data() + colon || index <= last) return false;
    last = index;
    ++n;
  }
  return n > 0;
}

// Names of columns may stand between angle brackets, too, so only these beginnings count.
bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  std::string start(text.substr(0, 14));
  for (char& c : start) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    const std::string_view behind = std::string_view(start).substr(std::min(word.size(), start.size()), 1);
    return start.starts_with(word) && behind != "," && behind != ";" && behind != "\t" && behind != "|";
  });
}

}  // namespace

void refuse_foreign(std::string_view bytes, const std::string& name, Foreign which) {
  if (bytes.starts_with("PK\x03\x04") && has_name_of(bytes, ".npy")) {
    refuse(name, "a NumPy archive (NPZ)", "numpy.save('table.npy', numpy.load('FILE')['NAME'])");
  }
  for (const MagicNumber& magic : kMagicNumbers) {
    if (magic.offset == 30 && !bytes.starts_with("PK\x03\x04")) continue;
    if (bytes.size() < magic.offset + magic.behind_end || !bytes.substr(magic.offset).starts_with(magic.bytes))
      continue;
    if (bytes.substr(0, bytes.size() - magic.behind_end).ends_with(magic.end)) refuse(name, magic.name, magic.way);
  }
  if (is_pickle(bytes)) refuse(name, "a Python pickle", "pandas.read_pickle('FILE').to_csv('table.csv', index=False)");
  if (which == Foreign::with_magic_number) return;
  const std::string_view text = without_blanks(bytes);
  if (begins_with_one_of(text, {"<!doctype html", "<html", "<head>", "<body>", "<table>", "<table ", "<!--"})) {
    refuse(name, "a web page (HTML)", "look at it: it may say why the download failed");
  }
  if (begins_with_one_of(text, {"<svg ", "<svg>"}))
    refuse(name, "an SVG image (XML)", "only its source has the numbers");
  if (begins_with_one_of(text, {"<?xml", "<!doctype"})) {
    refuse(name, "XML", "pandas.read_xml('FILE').to_csv('table.csv', index=False)");
  }
  if (text.starts_with("{\"format\":\"stope tree\"")) {
    refuse(name, "a tree of stope tree as JSON",
           "--model-out of stope tree writes a model, which stope predict applies");
  }
  if (is_json(text)) {
    const std::string_view line = first_line(text);
    const std::string_view next = without_blanks(text.substr(line.size()));
    const bool lines = line.ends_with('}') && (next.empty() || next[0] == '{');
    refuse(name, lines ? "JSON, an object a line" : "JSON", kDuckdb);
  }
  if (is_libsvm(first_line(text))) {
    refuse(name, "a libsvm (svmlight) file",
           "X, y = sklearn.datasets.load_svmlight_file('FILE'); numpy.save('table.npy', X.toarray())");
  }
}

std::string way_to_read(const std::string& url) {
  const std::string quoted = " '" + url + "'";
  if (url.starts_with("file://")) return "name the file without file://";
  if (url.starts_with("az://")) return "az storage blob download fetches it";
  const std::string copy = url.starts_with("s3://")     ? "aws s3 cp" + quoted + " -"
                           : url.starts_with("gs://")   ? "gcloud storage cat" + quoted
                           : url.starts_with("hdfs://") ? "hdfs dfs -cat" + quoted
                                                        : "curl -sSL" + quoted;
  return copy + " | stope info -";
}

bool is_url(std::string_view path) {
  constexpr std::array<std::string_view, 8> kSchemes = {"http://", "https://", "ftp://",  "s3://",
                                                        "gs://",   "az://",    "hdfs://", "file://"};
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](std::string_view scheme) { return path.starts_with(scheme); });
}

}  // namespace stope::io
