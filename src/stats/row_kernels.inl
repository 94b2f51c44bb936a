// Leaves of several columns whose rows lie behind one another, read in place: a register holds neighbouring columns,
// not rows. leaf_kernels.inl includes this file, which uses its steps and joins, so that the bits are the same.

// The sums of one chain of kSweep neighbouring columns. `sums.absent` counts its missing values.
template <class T>
struct RowSums {
  Sums<T> sums;
  Longs zeros[kGroups];
};

// Chains that are summed at once keep their sums in the first-level cache. The rows of a leaf are therefore read in
// several passes, each row in one of them.
constexpr std::int64_t kRowStates = 16;
constexpr std::int64_t kRowColumns = kRowStates * kSweep;
constexpr std::int64_t kRowScratch =
    kRowStates * std::int64_t{sizeof(RowSums<std::int64_t>)} + kRowColumns * std::int64_t{sizeof(Chains)};
static_assert(sizeof(RowSums<std::int64_t>) >= sizeof(RowSums<float>) &&
              sizeof(RowSums<std::int64_t>) >= sizeof(RowSums<double>) &&
              sizeof(RowSums<std::int64_t>) >= sizeof(RowSums<std::int32_t>));

STOPE_INLINE void count_lanes(Longs* counts, std::uint32_t bits) {
  for (int g = 0; g < kGroups; ++g) counts[g] -= mask_of(bits >> (g * kDoubleLanes));
}

template <class T, bool kMoments>
STOPE_INLINE void add_row_step(RowSums<T>& state, const T* x) {
  Sums<T>& sums = state.sums;
  const std::uint32_t special = special_bits(x);
  add_extremes(sums, x);
  if (__builtin_expect((special | sums.pending) != 0, 0)) {
    const std::uint32_t absent = nan_bits(x);
    count_lanes(state.zeros, special & ~absent);
    if constexpr (!kMoments) count_lanes(sums.absent, absent);
    if ((absent | sums.pending) != 0) {
      add_masked<T, kMoments>(sums, x, absent);
      return;
    }
  }
  if constexpr (kMoments) {
    const Longs none = {};
    for (int g = 0; g < kGroups; ++g) add_group<T, false>(sums, g, x + g * kDoubleLanes, none);
  }
}

// Adds the sums of a piece to the results of the columns.
template <class T, bool kMoments>
static void put_piece(const RowSums<T>& state, int piece, std::int64_t rows, std::int64_t n_columns, Chains* chains,
                      LeafSums<T>* out) {
  constexpr int kInRaw = int(sizeof(typename Raw<T>::Type) / sizeof(T));
  const Sums<T>& sums = state.sums;
  for (int i = 0; i < kSweep && i < n_columns; ++i) {
    const int g = i / kDoubleLanes, lane = i % kDoubleLanes;
    const T min = sums.min[i / kInRaw][i % kInRaw], max = sums.max[i / kInRaw][i % kInRaw];
    if (min <= out[i].min) {
      out[i].min_piece = min < out[i].min ? piece : -1;
      out[i].min = min;
    }
    if (max >= out[i].max) {
      out[i].max_piece = max > out[i].max ? piece : -1;
      out[i].max = max;
    }
    out[i].missing += sums.absent[g][lane];
    out[i].zeros += state.zeros[g][lane];
    if constexpr (kMoments) {
      out[i].integer_low += sums.low[g][lane];
      out[i].integer_high += sums.high[g][lane];
      Chains& mine = chains[i];
      mine.n[piece] = double(rows - sums.absent[g][lane]);
      mine.pivot[piece] = sums.pivot[g][lane];
      mine.pivot_low[piece] = sums.pivot_low[g][lane];
      mine.s0[piece] = sums.s0[g][lane];
      mine.s1[piece] = sums.s1[g][lane];
      mine.s2[piece] = sums.s2[g][lane];
      mine.s3[piece] = sums.s3[g][lane];
    }
  }
}

// Sums pieces first ... first + n_chains - 1 of the leaf (LeafSums). A piece is a chain. Where only extremes are
// wanted, order does not matter, and pieces are neighbouring rows, taken one at a time.
template <class T, bool kMoments>
static void row_pass(const T* x, std::int64_t stride, std::int64_t n, std::int64_t n_columns, int first, int n_chains,
                     RowSums<T>* states, Chains* chains, LeafSums<T>* out) {
  constexpr std::int64_t kApart = kMoments ? kChains : 1;
  const std::int64_t from = kMoments ? first : first * std::int64_t{kChainRows};
  const std::int64_t end = kMoments || n < from + kChainRows ? n : from + kChainRows;
  const std::int64_t n_blocks = (n_columns + kSweep - 1) / kSweep;
  for (std::int64_t i = 0; i < n_chains * n_blocks; ++i) {
    for (int g = 0; g < kGroups; ++g) states[i].zeros[g] = Longs{};
    start(states[i].sums, kMoments);
  }
  const T* const behind = x + (n - 1) * stride + n_columns;
  for (std::int64_t begin = from; begin < end; begin += kApart) {
    for (int c = 0; c < n_chains && begin + c < end; ++c) {
      const T* row = x + (begin + c) * stride;
      RowSums<T>* const mine = states + c * n_blocks;
      // The CPU's prefetcher does not follow rows that lie far apart.
      const char* const next = reinterpret_cast<const char*>(row + (begin + c + kApart < n ? kApart * stride : 0));
      for (std::int64_t b = 0; b < n_blocks; ++b) {
        for (int line = 0; kMoments && line < kSweep * int(sizeof(T)); line += 64) {
          __builtin_prefetch(next + b * kSweep * std::int64_t{sizeof(T)} + line, 0, 3);
        }
        // Behind the last column it reads the values that follow, into lanes that are never looked at.
        const std::int64_t left = n_columns - b * kSweep;
        if (left >= kSweep || row + (b + 1) * kSweep <= behind) {
          add_row_step<T, kMoments>(mine[b], row + b * kSweep);
        } else {
          T padded[kSweep];
          for (int i = 0; i < kSweep; ++i) padded[i] = row[b * kSweep + (i < left ? i : 0)];
          add_row_step<T, kMoments>(mine[b], padded);
        }
      }
    }
  }
  for (int c = 0; c < n_chains; ++c) {
    const std::int64_t rows = n > first + c ? (n - first - c + kApart - 1) / kApart : 0;
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      put_piece<T, kMoments>(states[c * n_blocks + b], first + c, rows, n_columns - b * kSweep, chains + b * kSweep,
                             out + b * kSweep);
    }
  }
}

template <class T>
static void rows(const T* x, std::int64_t stride, std::int64_t n, std::int64_t n_columns, Wanted wanted, void* scratch,
                 LeafSums<T>* out) {
  for (std::int64_t c = 0; c < n_columns; ++c) clear(out[c]);
  static_assert(kRowStates * sizeof(RowSums<T>) % alignof(Chains) == 0);
  auto* const states = static_cast<RowSums<T>*>(scratch);
  auto* const chains = reinterpret_cast<Chains*>(states + kRowStates);
  const std::int64_t n_blocks = (n_columns + kSweep - 1) / kSweep;
  if (wanted == Wanted::extremes) {
    for (int piece = 0; piece * kChainRows < n; ++piece) {
      row_pass<T, false>(x, stride, n, n_columns, piece, 1, states, chains, out);
    }
    return;
  }
  int n_chains = 1;
  while (2 * n_chains * n_blocks <= kRowStates) n_chains *= 2;
  for (int first = 0; first < kChains; first += n_chains) {
    row_pass<T, true>(x, stride, n, n_columns, first, n_chains, states, chains, out);
  }
  for (std::int64_t c = 0; c < n_columns; ++c) put_joined(chains[c], out[c]);
}
