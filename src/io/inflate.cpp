// Streaming decompression through zlib and libzstd into one growing buffer (io/inflate.hpp).
#include "io/inflate.hpp"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/memory.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

// Bytes between two polls of the cancel token: well under half a second at the slowest codec's 100 MB/s.
constexpr std::int64_t kStep = std::int64_t{4} << 20;

[[noreturn]] void damaged(const std::string& name, std::string_view what, std::int64_t offset) {
  throw Error(ErrorCode::invalid_data,
              "compressed data are damaged at byte " + std::to_string(offset) + ": " + std::string(what), {name});
}

// The expanded bytes. Growing copies them, so old and new memory must fit the budget together.
class Output {
 public:
  /// `hint` bytes are expected from `input` bytes, 0 = not known.
  Output(std::int64_t hint, std::size_t input, std::int64_t budget, const std::string& name)
      : budget_(budget), name_(name), buffer_(std::max(hint, first_size(input))) {}

  char* free_space() { return buffer_.data() + size_; }
  std::int64_t room() const { return buffer_.size() - size_; }
  void used(std::int64_t n) {
    size_ += n;
    if (size_ > budget_) fail();
  }

  void grow() {
    const std::int64_t left = budget_ - buffer_.size();
    // If less than a quarter more fits, a few more copies would end in a refusal anyway: refuse now.
    if (left <= buffer_.size() + buffer_.size() / 4) fail();
    Buffer<char> larger(std::min(buffer_.size() * 2, left));
    std::memcpy(larger.data(), buffer_.data(), static_cast<std::size_t>(size_));
    buffer_ = std::move(larger);
  }

  Inflated take() && { return {std::move(buffer_), size_}; }

 private:
  // Text shrinks to a quarter or less; small files start small.
  static std::int64_t first_size(std::size_t input) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(input / 2) * 16, 4096, kStep);
  }

  [[noreturn]] void fail() const {
    const std::int64_t both = buffer_.size() * 2 + buffer_.size() / 4 + 1;  // old and new memory, as grow() asks
    refuse_memory_from("expands to more than " + std::to_string(size_) + " bytes; growing to hold them needs",
                       std::max(size_, both), budget_, {name_});
  }

  std::int64_t budget_;
  const std::string& name_;
  Buffer<char> buffer_;
  std::int64_t size_ = 0;
};

std::uint32_t little_endian_32(std::string_view bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The size in the trailer of the last member. It is exact for a single member below 4 GiB, which is nearly every file.
// Deflate expands at most 1032-fold, so a larger figure is ignored.
std::int64_t gzip_size_hint(std::string_view bytes) {
  if (bytes.size() < 18) return 0;
  const std::int64_t hint = little_endian_32(bytes.substr(bytes.size() - 4));
  return hint <= static_cast<std::int64_t>(bytes.size()) * 1032 ? hint + 1 : 0;
}

struct GzipStream {
  z_stream z{};
  GzipStream() {
    if (inflateInit2(&z, 15 + 16) != Z_OK) throw Error(ErrorCode::out_of_memory, "zlib cannot allocate its window");
  }
  ~GzipStream() { inflateEnd(&z); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
};

bool only_zeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

Inflated inflate_gzip(std::string_view bytes, const std::string& name, std::int64_t budget, const CancelToken& cancel,
                      PhaseProgress& progress) {
  const std::int64_t hint = gzip_size_hint(bytes);
  Output output(hint <= budget ? hint : 0, bytes.size(), budget, name);
  GzipStream stream;
  z_stream& z = stream.z;
  std::size_t position = 0;
  for (;;) {
    cancel.check();
    progress.reach(static_cast<std::int64_t>(position));
    if (output.room() == 0) output.grow();
    const auto in = static_cast<uInt>(std::min<std::size_t>(bytes.size() - position, std::size_t{1} << 30));
    const auto out = static_cast<uInt>(std::min(output.room(), kStep));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + position));
    z.avail_in = in;
    z.next_out = reinterpret_cast<Bytef*>(output.free_space());
    z.avail_out = out;
    const int status = ::inflate(&z, Z_NO_FLUSH);
    position += in - z.avail_in;
    output.used(static_cast<std::int64_t>(out - z.avail_out));
    if (status == Z_STREAM_END) {
      const std::string_view rest = bytes.substr(position);
      if (only_zeros(rest)) break;
      if (compression_of(rest) != Compression::gzip) {
        damaged(name, "bytes after the last member", static_cast<std::int64_t>(position));
      }
      inflateReset(&z);
    } else if (status == Z_MEM_ERROR) {
      throw Error(ErrorCode::out_of_memory, "zlib cannot allocate its window", {name});
    } else if (status == Z_BUF_ERROR || (status == Z_OK && z.avail_in == 0 && z.avail_out > 0)) {
      if (position == bytes.size()) damaged(name, "the stream ends early", static_cast<std::int64_t>(position));
    } else if (status != Z_OK) {
      damaged(name, z.msg != nullptr ? z.msg : "not a gzip stream", static_cast<std::int64_t>(position));
    }
  }
  return std::move(output).take();
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Inflated inflate_zstd(std::string_view bytes, const std::string& name, std::int64_t budget, const CancelToken& cancel,
                      PhaseProgress& progress) {
  // A frame may declare any size. The hint is trusted up to the budget, and untouched pages cost nothing.
  const unsigned long long declared = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  const bool believable = declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != ZSTD_CONTENTSIZE_ERROR &&
                          declared < static_cast<unsigned long long>(budget) && declared < bytes.size() * 32768ULL;
  Output output(believable ? static_cast<std::int64_t>(declared) + 1 : 0, bytes.size(), budget, name);
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) throw Error(ErrorCode::out_of_memory, "zstd cannot allocate its context", {name});
  // A frame may demand a window of 128 MiB, which libzstd allocates unchecked. Every decoder should support 8 MiB (RFC
  // 8878, 3.1.1.1.2), whatever the budget.
  const int window_log = std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(budget))) - 1, 23, 27);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, window_log);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    cancel.check();
    if (output.room() == 0) output.grow();
    ZSTD_outBuffer out{output.free_space(), static_cast<std::size_t>(std::min(output.room(), kStep)), 0};
    progress.reach(static_cast<std::int64_t>(in.pos));
    const std::size_t before = in.pos;
    const std::size_t status = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge) {
      throw Error(ErrorCode::out_of_memory,
                  "its zstd window does not fit: the memory limit leaves " + std::to_string(budget) + " bytes", {name});
    }
    if (ZSTD_isError(status) != 0) {
      damaged(name, ZSTD_getErrorName(status), static_cast<std::int64_t>(before));
    }
    output.used(static_cast<std::int64_t>(out.pos));
    if (status == 0 && in.pos == in.size) break;
    if (in.pos == in.size && out.pos < out.size) {
      damaged(name, "the stream ends early", static_cast<std::int64_t>(in.pos));
    }
  }
  return std::move(output).take();
}

// pzstd writes such a frame before every frame of data.
std::string_view without_skippable_frames(std::string_view bytes) {
  constexpr std::size_t kHead = 8;  // magic number and size
  while (bytes.size() >= kHead && (little_endian_32(bytes) & 0xFFFFFFF0U) == 0x184D2A50U) {
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), kHead + little_endian_32(bytes.substr(4))));
  }
  return bytes;
}

}  // namespace

Compression compression_of(std::string_view bytes) {
  if (bytes.substr(0, 2) == "\x1f\x8b") return Compression::gzip;
  if (without_skippable_frames(bytes).substr(0, 4) == "\x28\xb5\x2f\xfd") return Compression::zstd;
  return Compression::none;
}

Inflated inflate(std::string_view bytes, Compression compression, const std::string& name, std::int64_t budget,
                 const CancelToken& cancel, PhaseProgress& progress) {
  return compression == Compression::gzip ? inflate_gzip(bytes, name, budget, cancel, progress)
                                          : inflate_zstd(bytes, name, budget, cancel, progress);
}

}  // namespace stope::io
