#include "arrays.hpp"

#include <memory>
#include <string>

#include "stope/error.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

ElementType element_type(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(type.code);
  const int bits = type.bits;
  if (type.lanes == 1) {
    if (code == Code::Float && bits == 64) return ElementType::float64;
    if (code == Code::Float && bits == 32) return ElementType::float32;
    if (code == Code::Int && bits == 8) return ElementType::int8;
    if (code == Code::Int && bits == 16) return ElementType::int16;
    if (code == Code::Int && bits == 32) return ElementType::int32;
    if (code == Code::Int && bits == 64) return ElementType::int64;
    if (code == Code::UInt && bits == 8) return ElementType::uint8;
    if (code == Code::UInt && bits == 16) return ElementType::uint16;
    if (code == Code::UInt && bits == 32) return ElementType::uint32;
    if (code == Code::Bool && bits == 8) return ElementType::boolean;
  }
  throw Error(ErrorCode::unsupported,
              "an array has elements of a type that stope does not take; convert it to float64");
}

template <class Holder>
std::shared_ptr<void> held_until_last(Holder holder) {
  auto held = std::make_unique<Holder>(std::move(holder));
  return {held.release(), [](void* p) {
            if (!nb::is_alive()) return;  // the interpreter has ended: there is nothing left to free
            const nb::gil_scoped_acquire acquired;
            const std::unique_ptr<Holder> last(static_cast<Holder*>(p));
          }};
}

}  // namespace

std::shared_ptr<void> keep_alive(nb::object object) {
  return held_until_last(std::move(object));
}

ArrayView view_of(const AnyArray& array, Lend lend) {
  if (array.ndim() != 1 && array.ndim() != 2) {
    throw Error(ErrorCode::unsupported,
                "an array has " + std::to_string(array.ndim()) + " dimensions; it needs to have 1 or 2");
  }
  ArrayView view;
  view.data = array.data();
  view.type = element_type(array.dtype());
  view.n_rows = static_cast<std::int64_t>(array.shape(0));
  view.row_stride = array.stride(0);
  if (array.ndim() == 2) {
    view.n_columns = static_cast<std::int64_t>(array.shape(1));
    view.column_stride = array.stride(1);
  }
  // A stride of 0 means "n_columns" to the core.
  if (view.n_rows <= 1) {
    view.row_stride = 0;
  } else if (view.row_stride == 0 && view.n_columns > 0) {
    throw Error(ErrorCode::unsupported, "an array repeats one row by a stride of 0; copy it");
  }
  if (array.device_type() == nb::device::cuda::value) {
    view.gpu = array.device_id();
  } else if (array.device_type() != nb::device::cpu::value) {
    throw Error(ErrorCode::unsupported, "an array is in the memory of a device that is neither the CPU nor CUDA's");
  }
  if (lend == Lend::yes) view.owner = held_until_last(array);
  return view;
}

}  // namespace stope::python
