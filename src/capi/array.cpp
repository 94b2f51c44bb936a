#include "capi/array.hpp"

#include <string>

#include "capi/guarded.hpp"
#include "stope/error.hpp"

namespace stope::capi {
namespace {

static_assert(STOPE_FLOAT64 == static_cast<int>(ElementType::float64));
static_assert(STOPE_FLOAT32 == static_cast<int>(ElementType::float32));
static_assert(STOPE_INT8 == static_cast<int>(ElementType::int8));
static_assert(STOPE_INT16 == static_cast<int>(ElementType::int16));
static_assert(STOPE_INT32 == static_cast<int>(ElementType::int32));
static_assert(STOPE_INT64 == static_cast<int>(ElementType::int64));
static_assert(STOPE_UINT8 == static_cast<int>(ElementType::uint8));
static_assert(STOPE_UINT16 == static_cast<int>(ElementType::uint16));
static_assert(STOPE_UINT32 == static_cast<int>(ElementType::uint32));
static_assert(STOPE_BOOLEAN == static_cast<int>(ElementType::boolean));
static_assert(sizeof(stope_array) == 64, "the structure is frozen");

std::int64_t elements(std::int64_t bytes, std::int64_t size, const char* what) {
  if (bytes % size == 0) return bytes / size;
  throw Error(ErrorCode::invalid_argument,
              std::string(what) + ": a stride of " + std::to_string(bytes) + " bytes is no multiple of the " +
                  std::to_string(size) + " bytes of an element",
              {.option = what});
}

}  // namespace

ArrayView view_of(const stope_array* array, const char* what) {
  required(array, what);
  if (array->type < STOPE_FLOAT64 || array->type > STOPE_BOOLEAN) {
    throw Error(ErrorCode::invalid_argument,
                std::string(what) + ": " + std::to_string(array->type) + " is no type of elements", {.option = what});
  }
  if (array->reserved != nullptr) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + ": 'reserved' is not a null pointer",
                {.option = what});
  }
  ArrayView view;
  view.data = array->data;
  view.type = static_cast<ElementType>(array->type);
  view.n_rows = array->n_rows;
  view.n_columns = array->n_columns;
  const std::int64_t size = size_of(view.type);
  // A stride that no step takes may be anything.
  if (view.n_rows > 1) view.row_stride = elements(array->row_stride, size, what);
  if (view.n_columns > 1) view.column_stride = elements(array->column_stride, size, what);
  if (view.row_stride == 0 && view.n_rows > 1) {
    // A row stride of 0 means n_columns to the core; here it means what it says, which no job needs.
    throw Error(ErrorCode::invalid_argument, std::string(what) + ": the stride from row to row is 0", {.option = what});
  }
  view.gpu = array->gpu;
  view.stream = array->stream;
  return view;
}

std::shared_ptr<const void> owner_of(void (*release)(void*), void* context) {
  if (release == nullptr) return nullptr;
  // The deleter does the work. The pointer is not null, since a null one would count as no owner.
  static const char kLent = 0;
  return {&kLent, [release, context](const void*) { release(context); }};
}

}  // namespace stope::capi
