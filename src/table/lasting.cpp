#include "table/lasting.hpp"

#include <algorithm>
#include <utility>

namespace stope {

void make_lasting(Column& column, Storage storage) {
  std::visit(
      [&](auto& values) {
        if (values.owned()) return;
        std::decay_t<decltype(values)> own(values.size(), storage);
        std::copy(std::as_const(values).begin(), std::as_const(values).end(), own.begin());
        values = std::move(own);
      },
      column.data);
}

}  // namespace stope
