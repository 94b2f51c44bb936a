// Filter forms: a form has a scan exactly where the CPU's scan has a kernel, and two sums never share one.
#include "knn/measure/form.hpp"

#include <gtest/gtest.h>

#include <map>

#include "knn/filter/scan/scan.hpp"

namespace stope::knn {
namespace {

TEST(FilterForm, HasAScanExactlyWhereThereIsAKernel) {
  std::map<ScanSum, ScanFunction> kernels;
  for (const Term term : {Term::square, Term::absolute, Term::maximum, Term::relative, Term::product}) {
    for (const Divisor divisor : {Divisor::none, Divisor::present_weight, Divisor::total}) {
      for (const Missing missing : {Missing::skip, Missing::mismatch, Missing::undefined}) {
        const FilterForm form{.term = term, .divisor = divisor, .missing = missing};
        const ScanFunction kernel = scalar::scan(form, ScanKind::differences);
        EXPECT_EQ(has_scan(form), kernel != nullptr);
        if (!has_scan(form)) continue;
        EXPECT_EQ(kernels.try_emplace(scan_sum(form), kernel).first->second, kernel);
      }
    }
  }
  EXPECT_EQ(kernels.size(), 9U);
  std::map<ScanFunction, ScanSum> sums;
  for (const auto& [sum, kernel] : kernels) sums.try_emplace(kernel, sum);
  EXPECT_EQ(sums.size(), kernels.size());
}

// The compiler refuses a measure that names such a form (typed_kernel.hpp).
static_assert(!has_scan({.term = Term::square, .divisor = Divisor::present_weight, .missing = Missing::mismatch}));
static_assert(!has_scan({.term = Term::absolute, .missing = Missing::mismatch}));
static_assert(!has_scan({.term = Term::maximum, .divisor = Divisor::present_weight}));
static_assert(!has_bound({.term = Term::absolute, .finish = Finish::root}));
static_assert(!has_bound({.divisor = Divisor::present_weight, .finish = Finish::identity}));
static_assert(!has_bound({.space = Space::unit_rows, .finish = Finish::root}));

}  // namespace
}  // namespace stope::knn
