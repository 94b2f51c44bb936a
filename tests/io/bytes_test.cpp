// load_bytes: plain, compressed, damaged and unreadable inputs.
#include "io/bytes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "base/fault.hpp"
#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "io/without_root.hpp"

namespace stope::io {
namespace {

class BytesTest : public TemporaryFolder {};

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i >> 3);
  return text;
}

ErrorCode code_of(const std::string& path, const RunOptions& run = {}) {
  try {
    load_bytes(path, run);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error for " << path;
  return ErrorCode::internal;
}

// Sizes around the one from which files are mapped, and one that needs several steps.
constexpr std::size_t kSizes[] = {0, 1, 4095, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 9 << 20};

TEST_F(BytesTest, PlainFiles) {
  for (const std::size_t size : kSizes) {
    const Bytes bytes = load_bytes(put("plain", pattern(size)), {});
    EXPECT_EQ(bytes.view, pattern(size));
    EXPECT_EQ(bytes.held > 0, size < (1 << 20));
  }
}

TEST_F(BytesTest, CompressedFilesBySuffixOrMagicNumber) {
  for (const std::size_t size : kSizes) {
    const std::string text = pattern(size);
    EXPECT_EQ(load_bytes(put("a.csv.gz", gzip(text)), {}).view, text);
    EXPECT_EQ(load_bytes(put("a.csv.zst", zstd(text)), {}).view, text);
    EXPECT_EQ(load_bytes(put("no_suffix", gzip(text)), {}).view, text);
    EXPECT_EQ(load_bytes(put("no_suffix", zstd(text)), {}).view, text);
  }
}

TEST_F(BytesTest, SeveralMembersAndFrames) {
  const std::string a = pattern(70000), b = pattern(5 << 20);
  EXPECT_EQ(load_bytes(put("m.gz", gzip(a) + gzip("") + gzip(b)), {}).view, a + b);
  EXPECT_EQ(load_bytes(put("m.gz", gzip(b) + gzip(a) + std::string(512, '\0')), {}).view, b + a);
  EXPECT_EQ(load_bytes(put("m.zst", zstd(a) + zstd("") + zstd(b)), {}).view, a + b);
}

TEST_F(BytesTest, SkippableFramesAreSkipped) {
  const std::string text = "a,b\n1,2\n", skipped("\x50\x2a\x4d\x18\x04\0\0\0size", 12);  // as pzstd writes them
  EXPECT_EQ(load_bytes(put("p.zst", skipped + zstd(text) + skipped + zstd(text)), {}).view, text + text);
  EXPECT_EQ(load_bytes(put("no_suffix", skipped + skipped + zstd(text)), {}).view, text);
  EXPECT_EQ(load_bytes(put("plain", skipped + text), {}).view, skipped + text) << "no compressed frame follows";
  const std::string longer("\x50\x2a\x4d\x18\xff\xff\xff\xff", 8);  // than the file
  EXPECT_EQ(load_bytes(put("short", longer), {}).view, longer);
}

TEST_F(BytesTest, DamagedData) {
  const std::string text = pattern(300000);
  for (const auto& [name, good] : {std::pair("d.gz", gzip(text)), std::pair("d.zst", zstd(text))}) {
    for (const std::size_t cut : {good.size() - 1, good.size() / 2, std::size_t{7}}) {
      EXPECT_EQ(code_of(put(name, good.substr(0, cut))), ErrorCode::invalid_data) << name << " cut to " << cut;
    }
    EXPECT_EQ(code_of(put(name, good + "junk")), ErrorCode::invalid_data) << name;
    EXPECT_EQ(code_of(put(name, "")), ErrorCode::invalid_data) << name;
    EXPECT_EQ(code_of(put(name, "a,b\n1,2\n")), ErrorCode::invalid_data) << name;
  }
  std::string flipped = gzip(text);
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x55);
  EXPECT_EQ(code_of(put("d.gz", flipped)), ErrorCode::invalid_data);
}

TEST_F(BytesTest, ExpandingPastTheBudget) {
  RunOptions run;
  run.memory_limit = 8 << 20;
  const std::string bomb(64 << 20, 'a');
  EXPECT_EQ(code_of(put("b.gz", gzip(bomb)), run), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of(put("b.zst", zstd(bomb)), run), ErrorCode::out_of_memory);
  // A size within the budget is accepted, even where the reader learns it only by growing.
  const std::string small = pattern(1 << 20);
  EXPECT_EQ(load_bytes(put("s.gz", gzip(small) + gzip(small)), run).view.size(), 2U << 20);
}

TEST_F(BytesTest, ASmallBudgetHoldsForSmallFiles) {
  RunOptions run;
  run.memory_limit = 100;  // less than the first piece of memory that a reader takes
  EXPECT_EQ(code_of(put("s.gz", gzip(pattern(1000))), run), ErrorCode::out_of_memory);
}

// A frame of zstd: what it declares, and one raw block of three bytes.
std::string zstd_frame(const std::string& head) {
  return "\x28\xB5\x2F\xFD" + head + std::string("\x19\0\0abc", 6);
}

TEST_F(BytesTest, WhatAFrameOfZstdDeclaresIsNoReasonToAllocate) {
  // A window of 2 GB; and 100 MB of text, of which there are three bytes.
  expect_error(ErrorCode::out_of_memory, "its zstd window does not fit",
               [&] { load_bytes(put("w.zst", zstd_frame(std::string("\0\xA8", 2))), {}); });
  EXPECT_EQ(code_of(put("d.zst", zstd_frame(std::string("\xA0\0\xE1\xF5\x05", 5)))), ErrorCode::invalid_data);
  EXPECT_EQ(load_bytes(put("g.zst", zstd_frame(std::string("\0\x58", 2))), {}).view, "abc");
}

TEST_F(BytesTest, WhatCannotBeRead) {
  EXPECT_EQ(code_of(at("absent.csv")), ErrorCode::io);
  EXPECT_EQ(code_of(folder_.string()), ErrorCode::io);
  try {
    load_bytes(at("absent.csv"), {});
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
}

TEST_F(BytesTest, WhatMayNotBeRead) {
  const std::string path = put("secret", "x");
  ::chmod(path.c_str(), 0);
  without_root([&] { EXPECT_EQ(code_of(path), ErrorCode::io); });
}

TEST_F(BytesTest, EveryFileOperationMayFail) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{2 << 20}}) {
    const std::string path = put("f", pattern(size));
    int n_failed = 0;
    for (int n = 1; n <= 10; ++n) {
      fault::arm_io(n, EIO);
      try {
        EXPECT_EQ(load_bytes(path, {}).view, pattern(size));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io);
        ++n_failed;
      }
      fault::arm_io(0, 0);
    }
    EXPECT_GE(n_failed, 3);  // open, stat, and read or map
  }
}

TEST_F(BytesTest, AddressSpaceThatIsFullIsMemory) {
  const std::string path = put("f", pattern(2 << 20));
  fault::arm_io(3, ENOMEM);  // open, stat, map
  const ErrorCode code = code_of(path);
  fault::arm_io(0, 0);
  EXPECT_EQ(code, ErrorCode::out_of_memory);
}

TEST_F(BytesTest, EveryAllocationMayFail) {
  const std::string path = put("a.gz", gzip(pattern(5 << 20)) + gzip(pattern(5 << 20)));
  int n_failed = 0;
  for (int n = 1; n <= 10; ++n) {
    fault::arm_alloc(n);
    try {
      EXPECT_EQ(load_bytes(path, {}).view.size(), 10U << 20);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      ++n_failed;
    }
    fault::arm_alloc(0);
  }
  EXPECT_GE(n_failed, 2);
}

TEST_F(BytesTest, CancelledBeforeTheFirstByte) {
  RunOptions run;
  run.cancel.cancel();
  try {
    load_bytes(put("c", "x"), run);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

TEST(ByteReader, RefusesToRunPastTheEnd) {
  ByteReader reader(std::string_view("\x01\0\0\0abc", 7), "f");
  EXPECT_EQ(reader.read<std::int32_t>("count"), 1);
  EXPECT_EQ(reader.take(3, "tail"), "abc");
  expect_error(ErrorCode::invalid_data, "f: more at byte 7 needs 1 bytes, 0 are left", [&] { reader.take(1, "more"); });
  expect_error(ErrorCode::invalid_data, "f: negative at byte 7 needs -1 bytes, 0 are left",
               [&] { reader.take(-1, "negative"); });
  EXPECT_EQ(reader.position(), 7);
}

TEST_F(BytesTest, NoDescriptorStaysOpen) {
  const auto n_open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const std::string small = put("small", pattern(100)), large = put("large", pattern(2 << 20)),
                    packed = put("packed.gz", gzip(pattern(1000)));
  const auto before = n_open();
  for (const std::string& path : {small, large, packed}) {
    const Bytes bytes = load_bytes(path, {});
    EXPECT_EQ(n_open(), before) << path;
  }
}

}  // namespace
}  // namespace stope::io
