// A producer of Arrow structures for tests: it owns its memory, and counts how often it is asked to release it.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stope/arrow.hpp"

namespace stope::arrow_test {

using Bytes = std::vector<char>;  // from operator new, so aligned for every number

template <class T>
Bytes bytes(const std::vector<T>& values) {
  Bytes made(values.size() * sizeof(T));
  if (!made.empty()) std::memcpy(made.data(), values.data(), made.size());
  return made;
}

/// A bitmap, lowest bit first, from text such as "1101".
inline Bytes bits(const std::string& text) {
  Bytes made(text.size() / 8 + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '1') made[i / 8] = static_cast<char>(made[i / 8] | 1 << (i % 8));
  }
  return made;
}

/// One column of a batch: its schema and its array. A buffer without a value is a null pointer.
struct Data {
  std::string name, format;
  std::int64_t length = 0;
  std::vector<std::optional<Bytes>> buffers = {};
  std::int64_t null_count = 0, offset = 0;
  std::string metadata = {};
  std::shared_ptr<const Data> dictionary = {};
};

template <class T>
Data numbers(const std::string& name, const std::string& format, const std::vector<T>& values,
             const std::string& validity = "") {
  Data data{name, format, static_cast<std::int64_t>(values.size()), {}};
  data.buffers = {std::nullopt, bytes(values)};
  if (!validity.empty()) {
    data.buffers[0] = bits(validity);
    data.null_count = -1;
  }
  return data;
}

/// Strings as utf8 ("u"), large_utf8 ("U") or string views ("vu").
inline Data strings(const std::string& name, const std::string& format, const std::vector<std::string>& values,
                    const std::string& validity = "") {
  Data data{name, format, static_cast<std::int64_t>(values.size()), {}};
  std::string text;
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int64_t> large{0};
  Bytes views(values.size() * 16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto size = static_cast<std::int32_t>(values[i].size());
    const std::int32_t words[4] = {size, 0, 0, static_cast<std::int32_t>(text.size())};
    std::memcpy(&views[i * 16], words, sizeof words);
    std::memcpy(&views[i * 16 + 4], values[i].data(), std::min<std::size_t>(values[i].size(), size > 12 ? 4 : 12));
    text += values[i];
    offsets.push_back(static_cast<std::int32_t>(text.size()));
    large.push_back(static_cast<std::int64_t>(text.size()));
  }
  const Bytes all(text.begin(), text.end());
  if (format == "u") data.buffers = {std::nullopt, bytes(offsets), all};
  if (format == "U") data.buffers = {std::nullopt, bytes(large), all};
  if (format == "vu") {
    data.buffers = {std::nullopt, views, all, bytes(std::vector<std::int64_t>{static_cast<std::int64_t>(all.size())})};
  }
  if (!validity.empty()) {
    data.buffers[0] = bits(validity);
    data.null_count = -1;
  }
  return data;
}

template <class Index>
Data coded(const std::string& name, const std::string& format, const std::vector<Index>& indices, Data dictionary,
           const std::string& validity = "") {
  Data data = numbers(name, format, indices, validity);
  data.dictionary = std::make_shared<Data>(std::move(dictionary));
  return data;
}

/// How often each kind of structure was released.
struct Released {
  int schemas = 0, batches = 0, streams = 0;
};

namespace detail {

struct SchemaState {
  std::vector<Data> columns;
  std::vector<ArrowSchema> children, dictionaries;
  std::vector<ArrowSchema*> pointers;
  Released* released;
};
struct BatchState {
  std::vector<Data> columns;
  std::vector<ArrowArray> children, dictionaries;
  std::vector<ArrowArray*> pointers;
  std::vector<std::vector<const void*>> buffers;
  const void* no_nulls = nullptr;
  Released* released;
};

inline ArrowSchema schema_of(const Data& data) {
  ArrowSchema schema{};
  schema.format = data.format.c_str();
  schema.name = data.name.c_str();
  schema.metadata = data.metadata.empty() ? nullptr : data.metadata.data();
  schema.flags = ARROW_FLAG_NULLABLE;
  schema.release = [](ArrowSchema* self) { self->release = nullptr; };
  return schema;
}

inline ArrowArray array_of(const Data& data, std::vector<const void*>& buffers) {
  for (const std::optional<Bytes>& buffer : data.buffers) {
    static const char kEmpty[64] = {};
    buffers.push_back(!buffer.has_value() ? nullptr : buffer->empty() ? kEmpty : buffer->data());
  }
  ArrowArray array{};
  array.length = data.length;
  array.null_count = data.null_count;
  array.offset = data.offset;
  array.n_buffers = static_cast<std::int64_t>(data.buffers.size());
  array.buffers = buffers.data();
  array.release = [](ArrowArray* self) { self->release = nullptr; };
  return array;
}

}  // namespace detail

inline ArrowSchema schema_of(const std::vector<Data>& columns, Released& released) {
  auto* state = new detail::SchemaState{columns, {}, {}, {}, &released};
  const std::size_t n = columns.size();
  state->dictionaries.resize(n);
  for (const Data& data : state->columns) state->children.push_back(detail::schema_of(data));
  for (std::size_t i = 0; i < n; ++i) {
    state->pointers.push_back(&state->children[i]);
    if (state->columns[i].dictionary == nullptr) continue;
    state->dictionaries[i] = detail::schema_of(*state->columns[i].dictionary);
    state->children[i].dictionary = &state->dictionaries[i];
  }
  ArrowSchema schema{};
  schema.format = "+s";
  schema.name = "";
  schema.n_children = static_cast<std::int64_t>(n);
  schema.children = state->pointers.data();
  schema.private_data = state;
  schema.release = [](ArrowSchema* self) {
    auto* mine = static_cast<detail::SchemaState*>(self->private_data);
    ++mine->released->schemas;
    delete mine;
    self->release = nullptr;
  };
  return schema;
}

/// All columns should have `length` elements; a test may lie.
inline ArrowArray batch_of(const std::vector<Data>& columns, std::int64_t length, Released& released) {
  auto* state = new detail::BatchState{columns, {}, {}, {}, {}, nullptr, &released};
  const std::size_t n = columns.size();
  state->dictionaries.resize(n);
  state->buffers.resize(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    state->children.push_back(detail::array_of(state->columns[i], state->buffers[2 * i]));
  }
  for (std::size_t i = 0; i < n; ++i) {
    state->pointers.push_back(&state->children[i]);
    if (state->columns[i].dictionary == nullptr) continue;
    state->dictionaries[i] = detail::array_of(*state->columns[i].dictionary, state->buffers[2 * i + 1]);
    state->children[i].dictionary = &state->dictionaries[i];
  }
  ArrowArray batch{};
  batch.length = length;
  batch.n_buffers = 1;
  batch.buffers = &state->no_nulls;
  batch.n_children = static_cast<std::int64_t>(n);
  batch.children = state->pointers.data();
  batch.private_data = state;
  batch.release = [](ArrowArray* self) {
    auto* mine = static_cast<detail::BatchState*>(self->private_data);
    ++mine->released->batches;
    delete mine;
    self->release = nullptr;
  };
  return batch;
}

/// A stream of batches. `fail_at`: the batch at which the producer fails, -1: never.
inline ArrowArrayStream stream_of(const std::vector<std::vector<Data>>& batches, const std::vector<Data>& schema,
                                  Released& released, int fail_at = -1) {
  struct State {
    std::vector<std::vector<Data>> batches;
    std::vector<Data> schema;
    Released* released;
    int fail_at;
    int next;
  };
  ArrowArrayStream stream{};
  stream.private_data = new State{batches, schema, &released, fail_at, 0};
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    auto* state = static_cast<State*>(self->private_data);
    *out = schema_of(state->schema, *state->released);
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    auto* state = static_cast<State*>(self->private_data);
    if (state->next == state->fail_at) return EIO;
    *out = ArrowArray{};
    if (state->next >= static_cast<int>(state->batches.size())) return 0;
    const std::vector<Data>& columns = state->batches[static_cast<std::size_t>(state->next++)];
    *out = batch_of(columns, columns.empty() ? 0 : columns[0].length, *state->released);
    return 0;
  };
  stream.get_last_error = [](ArrowArrayStream*) { return "the disk is on fire"; };
  stream.release = [](ArrowArrayStream* self) {
    auto* state = static_cast<State*>(self->private_data);
    ++state->released->streams;
    delete state;
    self->release = nullptr;
  };
  return stream;
}

/// Imports one batch of these columns; `released` counts.
inline Table import(const std::vector<Data>& columns, Released& released, const ArrowOptions& options = {},
                    const RunOptions& run = {}) {
  ArrowSchema schema = schema_of(columns, released);
  ArrowArray batch = batch_of(columns, columns.empty() ? 0 : columns[0].length, released);
  return import_arrow(&schema, &batch, options, run);
}

}  // namespace stope::arrow_test
