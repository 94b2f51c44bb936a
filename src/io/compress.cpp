// zlib and zstd behind one interface (io/compress.hpp).
#include "io/compress.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "stope/error.hpp"

namespace stope::io {
namespace {

constexpr std::size_t kOutputStep = std::size_t{1} << 17;

[[noreturn]] void fail(const char* library) {
  throw Error(ErrorCode::out_of_memory, std::string("no memory for ") + library + " to compress with");
}

class Gzip : public Compressor {
 public:
  Gzip() {
    constexpr int kGzipWindow = 15 + 16;  // + 16: gzip's header and checksum around the deflate stream
    constexpr int kMemory = 8;            // zlib's defaults
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      fail("zlib");
    }
  }
  ~Gzip() override { deflateEnd(&stream_); }

  void add(std::string_view bytes, std::string& out) override {
    constexpr std::size_t kMaxInput = std::size_t{1} << 30;  // zlib counts in 32 bits
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kMaxInput);
      run(piece, Z_NO_FLUSH, out);
      bytes.remove_prefix(piece.size());
    }
  }
  void finish(std::string& out) override { run({}, Z_FINISH, out); }

 private:
  void run(std::string_view input, int flush, std::string& out) {
    // zlib declares the input non-const but does not write to it.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    do {
      const std::size_t used = out.size();
      out.resize(used + kOutputStep);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream_.avail_out = static_cast<uInt>(kOutputStep);
      deflate(&stream_, flush);  // fails only for a state that cannot occur here
      out.resize(used + kOutputStep - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
};

class Zstd : public Compressor {
 public:
  Zstd() : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) fail("zstd");
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ~Zstd() override { ZSTD_freeCCtx(context_); }

  void add(std::string_view bytes, std::string& out) override { run(bytes, ZSTD_e_continue, out); }
  void finish(std::string& out) override { run({}, ZSTD_e_end, out); }

 private:
  void run(std::string_view bytes, ZSTD_EndDirective directive, std::string& out) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (bool done = false; !done;) {
      const std::size_t used = out.size();
      out.resize(used + kOutputStep);
      ZSTD_outBuffer output{out.data() + used, kOutputStep, 0};
      const std::size_t left = ZSTD_compressStream2(context_, &output, &input, directive);
      out.resize(used + output.pos);
      if (ZSTD_isError(left) != 0) fail("zstd");  // with these parameters it can only run out of memory
      done = directive == ZSTD_e_end ? left == 0 : input.pos == input.size;
    }
  }

  ZSTD_CCtx* context_;
};

bool has_suffix(std::string_view path, std::string_view suffix) {
  if (path.size() < suffix.size()) return false;
  const std::string_view end = path.substr(path.size() - suffix.size());
  return std::equal(end.begin(), end.end(), suffix.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

}  // namespace

std::unique_ptr<Compressor> Compressor::for_path(std::string_view path) {
  if (has_suffix(path, ".gz")) return std::make_unique<Gzip>();
  if (has_suffix(path, ".zst")) return std::make_unique<Zstd>();
  return nullptr;
}

}  // namespace stope::io
