// The additive scan. The sources of this folder compile it once per instruction set (base/simd/target_region.hpp). This
// file walks the blocks; the other ones compare a block with some queries. Nothing here may use the standard
// library (scan.hpp).

namespace {

#include "base/simd/prelude.inl"

// Lists the rows of one block that a query keeps.
STOPE_INLINE void emit(const Scan& scan, std::int64_t query, std::int64_t position, std::uint64_t kept, std::uint64_t always,
                       const float* scores) {
  Hit* hits = scan.hits + query * scan.capacity;
  std::int32_t n = scan.n_hits[query];
  for (std::uint64_t rest = kept | always; rest != 0; rest &= rest - 1) {
    const int row = __builtin_ctzll(rest);
    const bool listed = (always >> row & 1) != 0;
    hits[n++] = {listed ? -__builtin_inff() : scores[row], static_cast<std::int32_t>(position + row)};
  }
  scan.n_hits[query] = n;
}

#include "knn/filter/scan/bytes.inl"
#include "knn/filter/scan/floats.inl"
#include "knn/filter/scan/byte_products.inl"
#include "knn/filter/scan/nibbles.inl"
#include "knn/filter/scan/values.inl"

// Walks the blocks, in groups of those queries that a block's box does not rule out. One query alone is no group.
template <class Group, Term term>
void scan_blocks(const Scan& scan) {
  const std::uint64_t everyone = scan.n_queries == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << scan.n_queries) - 1;
  std::int64_t skipped = 0;
  for (std::int64_t visited = 0; visited < scan.n_visit; ++visited) {
    std::uint64_t queries = everyone;
    if (scan.low != nullptr && scan.always[scan.visit[visited]] == 0) {
      queries &= inside_box<term>(scan, scan.visit[visited]);
      skipped += scan.n_queries - __builtin_popcountll(queries);
    }
    while (queries != 0) {
      if ((queries & (queries - 1)) == 0) {
        const int lone = __builtin_ctzll(queries);
        Group::Lone::run(scan, visited, &lone, 1);
        break;
      }
      int which[kMostGroup];
      int n = 0;
      for (; n < Group::kQueries && queries != 0; ++n, queries &= queries - 1) which[n] = __builtin_ctzll(queries);
      for (int i = n; i < Group::kQueries; ++i) which[i] = which[0];
      Group::run(scan, visited, which, n);
    }
  }
  *scan.n_skipped += skipped;
}

template <Term term, Divisor divisor = Divisor::none, Missing missing = Missing::skip>
constexpr ScanFunction differences() {
  return scan_blocks<Differences<Sum<term, divisor, missing>>, term>;
}

}  // namespace

ScanFunction scan(const FilterForm& form, ScanKind kind) {
  if (kind == ScanKind::products) return scan_blocks<Products<>, Term::square>;
#if defined(STOPE_AVX512_VNNI)
  if (kind == ScanKind::byte_products) return scan_blocks<ByteProducts<>, Term::square>;
  if (kind == ScanKind::byte_products_present) return scan_blocks<PresentByteProducts<>, Term::square>;
#endif
#if !defined(STOPE_AVX512_VNNI) && (defined(STOPE_AVX512) || defined(STOPE_AVX2))
  if (kind == ScanKind::byte_pair_products) return scan_blocks<ByteProducts<>, Term::square>;
#endif
#if defined(STOPE_AVX512) || defined(STOPE_AVX2)
  if (kind == ScanKind::nibble_products) return scan_blocks<NibbleProducts<>, Term::square>;
  if (kind == ScanKind::byte_differences) return scan_blocks<ByteDifferences<>, Term::absolute>;
#endif
#if defined(STOPE_AVX512)
  if (kind == ScanKind::byte_differences_present) {
    if (form.divisor == Divisor::none) return scan_blocks<PresentByteDifferences<Divisor::none>, Term::absolute>;
    return scan_blocks<PresentByteDifferences<Divisor::present_weight>, Term::absolute>;
  }
#endif
  if (kind != ScanKind::differences) return nullptr;
  switch (scan_sum(form)) {
    case ScanSum::squares: return differences<Term::square>();
    case ScanSum::squares_and_missing: return differences<Term::square, Divisor::none, Missing::mismatch>();
    case ScanSum::mean_squares: return differences<Term::square, Divisor::present_weight>();
    case ScanSum::absolutes: return differences<Term::absolute>();
    case ScanSum::mean_absolutes: return differences<Term::absolute, Divisor::present_weight>();
    case ScanSum::absolutes_of_total: return differences<Term::absolute, Divisor::total>();
    case ScanSum::maximum: return differences<Term::maximum>();
    case ScanSum::relative: return differences<Term::relative>();
    case ScanSum::products: return scan_blocks<Products<>, Term::square>;
    case ScanSum::none: break;  // no measure names such a form: it would not compile
  }
  return nullptr;
}

BoxFunctions box_functions(const FilterForm& form) {
  switch (form.term) {
    case Term::square: return {compare_boxes<Term::square>, boxes_within};
    case Term::maximum: return {compare_boxes<Term::maximum>, boxes_within};
    case Term::absolute:
    case Term::product:
    case Term::relative: break;  // a box bounds differences, not shares: its cut drops nothing
  }
  return {compare_boxes<Term::absolute>, boxes_within};
}

ValueFunctions value_functions() {
  return {squares_of_values, sums_below, rank_candidates};
}
