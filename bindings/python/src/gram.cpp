#include "gram.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "run.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"
#include "stope/gram.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using Vectors = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t kMostVectors = 8;  // that the core multiplies in one pass

// An operator of Python's: products of several threads wait for one another.
class Operator {
 public:
  Operator(const AnyArray& matrix, bool lend, GramOptions options, int threads, std::int64_t memory_limit,
           std::string device)
      : run_{threads, memory_limit, std::move(device), nb::none(), {}, {}, {}} {
    const ArrayView view = view_of(matrix, lend ? Lend::yes : Lend::no);
    constexpr std::int64_t kFew = 1'000'000;
    const bool brief = view.n_rows < kFew / std::max<std::int64_t>(view.n_columns, 1);
    run_job(
        run_,
        [&](const RunOptions& how) {
          RunOptions kept = how;  // the operator outlives this job, and with it the places that these would write to
          kept.warn = {};
          kept.report = {};
          kept.progress = {};
          operator_ = std::make_unique<GramOperator>(view, options, kept);
        },
        brief ? Duration::brief : Duration::any);
  }

  std::int64_t n_rows() const { return operator_->n_rows(); }
  std::int64_t n_columns() const { return operator_->n_columns(); }

  nb::object multiply(const Vectors& x) {
    return multiplied(
        x, n_columns(), n_rows(),
        [this](std::span<const double> in, std::span<double> out, std::int64_t i) {
          operator_->multiply(in.subspan(at(i, n_columns()), size(n_columns())),
                              out.subspan(at(i, n_rows()), size(n_rows())));
        },
        1);
  }
  nb::object multiply_transposed(const Vectors& y) {
    return multiplied(
        y, n_rows(), n_columns(),
        [this](std::span<const double> in, std::span<double> out, std::int64_t i) {
          operator_->multiply_transposed(in.subspan(at(i, n_rows()), size(n_rows())),
                                         out.subspan(at(i, n_columns()), size(n_columns())));
        },
        1);
  }
  nb::object gram(const Vectors& x) {
    const auto n_vectors = static_cast<std::int64_t>(x.shape(0));
    return multiplied(
        x, n_columns(), n_columns(),
        [this, n_vectors](std::span<const double> in, std::span<double> out, std::int64_t i) {
          const std::int64_t n = std::min(kMostVectors, n_vectors - i);
          operator_->gram(in.subspan(at(i, n_columns()), size(n * n_columns())),
                          out.subspan(at(i, n_columns()), size(n * n_columns())), n);
        },
        kMostVectors);
  }

  std::string report_json() {
    const Turn turn(mutex_);
    return to_json(operator_->report());
  }
  std::string report_text() {
    const Turn turn(mutex_);
    return to_text(operator_->report());
  }

 private:
  // Waits without the GIL for the thread that uses the operator: that thread needs the GIL to end.
  class Turn {
   public:
    explicit Turn(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
      const WithoutGil released;
      lock_.lock();
    }

   private:
    std::unique_lock<std::mutex> lock_;
  };

  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  static std::size_t at(std::int64_t vector, std::int64_t length) { return static_cast<std::size_t>(vector * length); }

  // Calls `product(in, out, i)` for the vectors i, i + step, ...
  template <class Product>
  nb::object multiplied(const Vectors& in, std::int64_t n_in, std::int64_t n_out, const Product& product,
                        std::int64_t step) {
    const auto n_vectors = static_cast<std::int64_t>(in.shape(0));
    if (static_cast<std::int64_t>(in.shape(1)) != n_in) {
      throw Error(ErrorCode::invalid_argument, "a vector has " + std::to_string(in.shape(1)) +
                                                   " numbers; this product takes " + std::to_string(n_in));
    }
    constexpr std::int64_t kFew = 10'000'000;
    const bool brief = n_rows() < kFew / n_columns() / std::max<std::int64_t>(n_vectors, 1);
    const Turn turn(mutex_);
    Buffer<double> out = result_of(
        run_,
        [&](const RunOptions&) {
          Buffer<double> values(n_vectors * n_out);
          for (std::int64_t i = 0; i < n_vectors; i += step) {
            product(std::span(in.data(), in.size()), std::span(values), i);
          }
          return values;
        },
        brief ? Duration::brief : Duration::any);
    double* const data = out.data();
    return array_over(data, {size(n_vectors), size(n_out)}, std::move(out));
  }

  Run run_;  // its cancel token is the operator's
  std::mutex mutex_;
  std::unique_ptr<GramOperator> operator_;
};

}  // namespace

void bind_gram(nb::module_& module) {
  nb::class_<Operator>(module, "GramOperator", "Products with a matrix. Vectors are rows of an array.")
      .def(
          "__init__",
          [](Operator* self, const AnyArray& matrix, bool lend, std::vector<double> shift, std::vector<double> scale,
             const Run& run) {
            new (self)
                Operator(matrix, lend, {std::move(shift), std::move(scale)}, run.threads, run.memory_limit, run.device);
          },
          nb::arg("matrix"), nb::arg("lend"), nb::arg("shift"), nb::arg("scale"), nb::arg("run"))
      .def_prop_ro("n_rows", &Operator::n_rows)
      .def_prop_ro("n_columns", &Operator::n_columns)
      .def("multiply", &Operator::multiply, nb::arg("x"))
      .def("multiply_transposed", &Operator::multiply_transposed, nb::arg("y"))
      .def("gram", &Operator::gram, nb::arg("x"))
      .def("report_json", &Operator::report_json)
      .def("report_text", &Operator::report_text);
}

}  // namespace stope::python
