// Loops of attention.h, compiled once for each instruction set.
//
// The lanes of vectors are queries, so that softmax works lane by lane, and short heads fill whole
// vectors, too: scores are computed as keys x queries, results as D x queries. All five products
// are sums of one row of factors times rows of a matrix, in tiles that stay in registers.
#include "kernel/attention/attention.h"

#include "kernel/attention/rotations.h"
#include "kernel/dense/panel_product.h"
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

template <class F>
class AttentionHead {
 public:
  // The head's part of an attention. The slopes are null in a forward pass.
  // rotations: of rotary encodings, see fill_rotations().
  AttentionHead(const Attention<F>& attention, const AttentionSlopes<F>* slopes, Index head,
                const F* rotations, F* scratch)
      : z_(attention),
        slopes_(slopes),
        head_(head),
        rotations_(rotations),
        size_(z_.head_size),
        used_(whole(size_)),
        row_(padded_size(size_)),
        column_(padded_size(z_.rows)),
        scale_(static_cast<F>(1 / __builtin_sqrt(static_cast<double>(size_)))) {
    const auto take = [&](Index count) {
      F* own = scratch;
      scratch += count;
      return own;
    };
    const Index matrix = (column_ + kQueries) * row_, block = row_ * kQueries;
    for (F** own : {&keys_, &values_, &key_columns_, &value_columns_, &key_slope_, &value_slope_})
      *own = take(matrix);
    // Before the first row are those of the first block that are missing.
    for (F** own : {&queries_, &slope_}) *own = take(matrix) + block;
    for (F** own : {&query_block_, &slope_block_, &result_, &result_rows_}) *own = take(block);
    for (F** own : {&shares_, &score_slopes_}) *own = take(kKeys * kQueries);
    if (z_.encoding == AttentionEncoding::alibi)
      for (Index k = 0; k < kQueries; ++k)
        alibi_[k] = static_cast<F>(static_cast<double>(k) * alibi_slope(head, z_.heads));
    if (!is_relative()) return;
    for (F** own : {&distances_, &distance_columns_, &distance_slope_}) *own = take(matrix);
    distance_queries_ = take(matrix) + block;
    for (F** own : {&distance_block_, &distance_result_}) *own = take(block);
    distance_scores_ = take((kKeys + 2 * kQueries) * kQueries);
  }

  void forward() {
    pack_all();
    pack_columns(keys_, key_columns_);
    in_query_blocks([&](Index first) { forward(first); });
  }
  void backward() {
    pack_all();
    pack(slopes_->out, 1, slope_);
    pack_columns(keys_, key_columns_);
    pack_columns(values_, value_columns_);
    clear(key_slope_, column_ * row_);
    clear(value_slope_, column_ * row_);
    if (is_relative()) clear(distance_slope_, (column_ + kQueries) * row_);
    in_query_blocks([&](Index first) { backward(first); });
    rotate(key_slope_, -1);
    add_rows(key_slope_, slopes_->keys);
    add_rows(value_slope_, slopes_->values);
    if (is_relative()) add_rows(distance_slope_, slopes_->distances);
  }

 private:
  using V = Vector<F>;
  static constexpr Index kL = kLanes<F>, kQueries = 2 * kL;
  // Number of keys whose scores stay in the first-level cache.
  static constexpr Index kKeys = 96;
  // Rows of products are divided into tiles of one, two or three units.
  static constexpr int kUnit = kProductRows / 3;
  static_assert(kKeys % (3 * kUnit) == 0 && kQueries % kUnit == 0);

  // Calls finish(r, v, s) for all rows r and vectors v of a tile, s being start(r, v) +
  // sum_i x[r * kRow + i * x_step] w[i * w_row + v * kL ...].
  template <int kRows, int kVectors, Index kRow, class Start, class Finish>
  [[gnu::always_inline]] static inline void tile(const F* x, Index x_step, Index count, const F* w,
                                                 Index w_row, Start start, Finish finish) {
    V sums[kRows][kVectors];
    unrolled<kRows>(PUSHDOWN_UNROLLED(r) {
      unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { sums[r][v] = start(r, v); });
    });
    for (Index i = 0; i < count; ++i, x += x_step, w += w_row) {
      V weights[kVectors];
      unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { weights[v] = load(w + v * kL); });
      unrolled<kRows>(PUSHDOWN_UNROLLED(r) {
        const V factor = splat(x[r * kRow]);
        unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { sums[r][v] += factor * weights[v]; });
      });
    }
    unrolled<kRows>(PUSHDOWN_UNROLLED(r) {
      unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { finish(r, v, sums[r][v]); });
    });
  }
  // Calls visit<rows>(r) for tiles of all rows, a multiple of kUnit.
  template <class Visit>
  [[gnu::always_inline]] static inline void in_tiles(Index rows, Visit visit) {
    for (Index r = 0; r < rows;) {
      const Index left = rows - r;
      if (left >= 3 * kUnit && left != 4 * kUnit) {
        visit.template operator()<3 * kUnit>(r);
        r += 3 * kUnit;
      } else if (left >= 2 * kUnit) {
        visit.template operator()<2 * kUnit>(r);
        r += 2 * kUnit;
      } else {
        visit.template operator()<kUnit>(r);
        r += kUnit;
      }
    }
  }
  // Calls visit(first) for blocks of kQueries queries. Those missing are before the first query,
  // where a block sees few keys.
  template <class Visit>
  [[gnu::always_inline]] inline void in_query_blocks(Visit visit) const {
    for (Index left = (z_.rows + kQueries - 1) / kQueries; left > 0; --left) {
      if (z_.stop != nullptr && __atomic_load_n(z_.stop, __ATOMIC_RELAXED) != 0) return;
      visit(z_.rows - left * kQueries);
    }
  }
  // Calls visit(first, count, diagonal) for blocks of all keys that a block of queries sees, the
  // last block being one of which some queries do not see all keys.
  template <class Visit>
  [[gnu::always_inline]] inline void in_key_blocks(Index first_query, Visit visit) const {
    const Index seen = first_query < 0 ? 0 : first_query / kUnit * kUnit;
    for (Index first = 0; first < seen; first += kKeys)
      visit(first, seen - first < kKeys ? seen - first : kKeys, false);
    visit(seen, whole(first_query + kQueries - seen), true);
  }
  static Index whole(Index count) { return (count + kUnit - 1) / kUnit * kUnit; }
  // Replaces the lanes of queries before the key, `key` being its place after the first query.
  [[gnu::always_inline]] static inline V masked(V x, Index key, Index v, F by) {
    return first_lanes(splat(by), key - v * kL, x);
  }

  bool is_relative() const { return z_.encoding == AttentionEncoding::relative; }

  void pack_all() {
    pack(z_.queries, scale_, queries_, z_.content_bias);
    pack(z_.keys, 1, keys_);
    pack(z_.values, 1, values_);
    rotate(queries_, 1);
    rotate(keys_, 1);
    if (!is_relative()) return;
    pack(z_.queries, scale_, distance_queries_, z_.distance_bias);
    pack(z_.distances, 1, distances_);
    pack_columns(distances_, distance_columns_);
  }
  // Rotates the pairs of numbers of a row, or of all rows, by their angles; direction -1: back.
  void rotate(F* x, Index t, F direction) const {
    if (rotations_ == nullptr) return;
    const F* of = rotations_ + t * size_;
    for (Index i = 0; i < size_; i += 2) {
      const F cosine = of[i], sine = direction * of[i + 1], first = x[i], second = x[i + 1];
      x[i] = first * cosine - second * sine;
      x[i + 1] = second * cosine + first * sine;
    }
  }
  void rotate(F* rows, F direction) const {
    if (rotations_ == nullptr) return;
    for (Index t = 0; t < z_.rows; ++t) rotate(rows + t * row_, t, direction);
  }

  // to = scale of the head's columns and its bias, with zeros for missing rows and columns : T x D
  void pack(const AttentionRows<const F>& from, F scale, F* to, const F* bias = nullptr) const {
    const F* own = from.first + head_ * size_;
    if (to == queries_ || to == slope_ || to == distance_queries_)
      clear(to - kQueries * row_, kQueries * row_);
    for (Index t = 0; t < z_.rows; ++t, own += from.row, to += row_) {
      for (Index i = 0; i < size_; ++i)
        to[i] = scale * (bias == nullptr ? own[i] : own[i] + bias[head_ * size_ + i]);
      for (Index i = size_; i < row_; ++i) to[i] = 0;
    }
    clear(to, (column_ - z_.rows) * row_);
  }
  // to = the transposed matrix : D x T
  void pack_columns(const F* matrix, F* to) const {
    for (Index i = 0; i < size_; i += kL)
      for (Index t = 0; t < column_; t += kL)
        transposed(matrix + t * row_ + i, row_, to + i * column_ + t, column_);
  }
  // to = the transposed rows first .. first + kQueries - 1 of a packed matrix : D x kQueries
  void pack_block(const F* matrix, Index first, F* to) const {
    for (Index column = 0; column < size_; column += kL)
      for (Index k = 0; k < kQueries; k += kL)
        transposed(matrix + (first + k) * row_ + column, row_, to + column * kQueries + k,
                   kQueries);
  }
  // Calls visit(t, r) with the results r : D of the queries from the first on.
  template <class Visit>
  [[gnu::always_inline]] inline void visit_results(const F* result, Index first_query, F* rows,
                                                   Visit visit) const {
    for (Index i = 0; i < size_; i += kL)
      for (Index k = 0; k < kQueries; k += kL)
        transposed(result + i * kQueries + k, kQueries, rows + k * row_ + i, row_);
    for (Index k = first_query < 0 ? -first_query : 0; k < kQueries; ++k)
      visit(first_query + k, rows + k * row_);
  }
  static void transposed(const F* from, Index from_row, F* to, Index to_row) {
    V rows[kL];
    unrolled<static_cast<int>(kL)>(PUSHDOWN_UNROLLED(r) { rows[r] = load(from + r * from_row); });
    transpose<F>(rows);
    unrolled<static_cast<int>(kL)>(PUSHDOWN_UNROLLED(r) { store(to + r * to_row, rows[r]); });
  }
  void add_rows(const F* from, const AttentionRows<F>& to) const {
    if (to.first == nullptr) return;
    for (Index t = 0; t < z_.rows; ++t)
      add(to.first + t * to.row + head_ * size_, from + t * row_, size_);
  }

  // The distances between keys first .. first + count - 1 and the queries of a block: that of query
  // j and key k is `zero` + j - k, and those that are not negative are from .. from + count - 1.
  struct Distances {
    Index zero, from, count;
  };
  static Distances distances(Index first_query, Index first, Index count) {
    const Index zero = first_query - first, oldest = zero - count + 1;
    const Index from = oldest < 0 ? 0 : oldest;
    return {zero, from, zero + kQueries - from};
  }
  // Calls visit(place, place of the distance) for the scores of key k after the first one.
  template <class Visit>
  [[gnu::always_inline]] static inline void in_scores(const Distances& of, Index k, Visit visit) {
    const Index nearest = of.zero - k;
    for (Index j = nearest < 0 ? -nearest : 0; j < kQueries; ++j)
      visit(k * kQueries + j, (nearest + j - of.from) * kQueries + j);
  }
  // Writes the parts of scores that do not depend on the keys.
  void encode(Index first_query, Index first, Index count) {
    if (z_.encoding == AttentionEncoding::alibi) {
      const F slope = alibi_[1];
      for (Index k = 0; k < count; ++k)
        for (Index v = 0; v < 2; ++v)
          store(shares_ + k * kQueries + v * kL,
                splat(slope * static_cast<F>(first + k - first_query)) - load(alibi_ + v * kL));
      return;
    }
    const Distances of = distances(first_query, first, count);
    in_tiles(
        whole(of.count), [&]<int kRows>(Index d) __attribute__((always_inline)) {
          F* to = distance_scores_ + d * kQueries;
          tile<kRows, 2, 1>(
              distance_columns_ + of.from + d, column_, size_, distance_block_, kQueries,
              [](int, int) { return V{}; },
              [&](int r, int v, V score) { store(to + r * kQueries + v * kL, score); });
        });
    clear(shares_, count * kQueries);
    for (Index k = 0; k < count; ++k)
      in_scores(of, k, [&](Index to, Index from) { shares_[to] = distance_scores_[from]; });
  }
  bool encodes() const { return alibi_[1] != 0 || is_relative(); }
  // The gradients of distances and their queries from those of scores.
  void propagate_distances(Index first_query, Index first, Index count) {
    const Distances of = distances(first_query, first, count);
    clear(distance_scores_, whole(of.count) * kQueries);
    for (Index k = 0; k < count; ++k)
      in_scores(of, k, [&](Index from, Index to) { distance_scores_[to] = score_slopes_[from]; });
    add_to_result(distance_result_, distances_, of.from, of.count, distance_scores_);
    if (slopes_->distances.first != nullptr)
      add_to_keys(distance_slope_, of.from, whole(of.count), distance_scores_,
                  distance_queries_ + first_query * row_);
  }

  // result += M^T w, where M has a row for each of `count` keys from the first on : D x kQueries
  void add_to_result(F* result, const F* matrix, Index first, Index count, const F* w) {
    in_tiles(
        used_, [&]<int kRows>(Index i) __attribute__((always_inline)) {
          F* to = result + i * kQueries;
          tile<kRows, 2, 1>(
              matrix + first * row_ + i, row_, count, w, kQueries,
              [&](int r, int v) { return load(to + r * kQueries + v * kL); },
              [&](int r, int v, V sum) { store(to + r * kQueries + v * kL, sum); });
        });
  }
  // to += w m for `count` keys from the first on, m the kQueries rows of a matrix.
  void add_to_keys(F* to, Index first, Index count, const F* w, const F* matrix) {
    for (Index column = 0; column < row_; column += 2 * kL) {
      const auto columns = [&]<int kVectors>() __attribute__((always_inline)) {
        in_tiles(
            count, [&]<int kRows>(Index k) __attribute__((always_inline)) {
              F* own = to + (first + k) * row_ + column;
              tile<kRows, kVectors, kQueries>(
                  w + k * kQueries, 1, kQueries, matrix + column, row_,
                  [&](int r, int v) { return load(own + r * row_ + v * kL); },
                  [&](int r, int v, V sum) { store(own + r * row_ + v * kL, sum); });
            });
      };
      if constexpr (kL == kPadding)
        if (column + kL == row_) return columns.template operator()<1>();
      columns.template operator()<2>();
    }
  }

  void forward(Index first_query) {
    pack_block(queries_, first_query, query_block_);
    clear(result_, row_ * kQueries);
    V greatest[2], sums[2] = {};
    for (V& own : greatest) own = splat(kLeast);
    const bool encoded = encodes();
    if (is_relative()) pack_block(distance_queries_, first_query, distance_block_);
    in_key_blocks(first_query, [&](Index first, Index count, bool diagonal) {
      const V before[2] = {greatest[0], greatest[1]};
      if (encoded) encode(first_query, first, count);
      in_tiles(
          count, [&]<int kRows>(Index k) __attribute__((always_inline)) {
            F* to = shares_ + k * kQueries;
            tile<kRows, 2, 1>(
                key_columns_ + first + k, column_, size_, query_block_, kQueries,
                [&](int r, int v) { return encoded ? load(to + r * kQueries + v * kL) : V{}; },
                [&](int r, int v, V score) __attribute__((always_inline)) {
                  if (diagonal) score = masked(score, first - first_query + k + r, v, kLeast);
                  store(to + r * kQueries + v * kL, score);
                  greatest[v] = score > greatest[v] ? score : greatest[v];
                });
          });
      if (first > 0) {
        const V less[2] = {vector_exp(before[0] - greatest[0]),
                           vector_exp(before[1] - greatest[1])};
        for (Index i = 0; i < used_; ++i)
          for (Index v = 0; v < 2; ++v) {
            F* own = result_ + i * kQueries + v * kL;
            store(own, load(own) * less[v]);
          }
        for (Index v = 0; v < 2; ++v) sums[v] *= less[v];
      }
      for (Index k = 0; k < count; ++k)
        for (Index v = 0; v < 2; ++v) {
          F* own = shares_ + k * kQueries + v * kL;
          const V share = vector_exp(load(own) - greatest[v]);
          store(own, share);
          sums[v] += share;
        }
      add_to_result(result_, values_, first, count, shares_);
    });
    const V factors[2] = {F(1) / sums[0], F(1) / sums[1]};
    for (Index i = 0; i < size_; ++i)
      for (Index v = 0; v < 2; ++v) {
        F* own = result_ + i * kQueries + v * kL;
        store(own, load(own) * factors[v]);
      }
    visit_results(result_, first_query, result_rows_, [&](Index t, const F* from) {
      copy(z_.out.first + t * z_.out.row + head_ * size_, from, size_);
      const Index k = t - first_query;
      z_.log_sums.first[t * z_.log_sums.row + head_] =
          greatest[k / kL][k % kL] +
          static_cast<F>(__builtin_log(static_cast<double>(sums[k / kL][k % kL])));
    });
  }

  void backward(Index first_query) {
    pack_block(queries_, first_query, query_block_);
    pack_block(slope_, first_query, slope_block_);
    clear(result_, row_ * kQueries);
    const bool of_queries = slopes_->queries.first != nullptr || slopes_->content_bias != nullptr ||
                            slopes_->distance_bias != nullptr;
    // -l and -(d out . out) of the queries.
    alignas(64) F log_sums[kQueries] = {}, means[kQueries] = {};
    for (Index k = first_query < 0 ? -first_query : 0; k < kQueries; ++k) {
      const Index t = first_query + k;
      log_sums[k] = -z_.log_sums.first[t * z_.log_sums.row + head_];
      means[k] = -dot<F>(slope_ + t * row_, z_.out.first + t * z_.out.row + head_ * size_, size_);
    }
    const bool encoded = encodes();
    if (is_relative()) {
      pack_block(distance_queries_, first_query, distance_block_);
      clear(distance_result_, row_ * kQueries);
    }
    in_key_blocks(first_query, [&](Index first, Index count, bool diagonal) {
      if (encoded) encode(first_query, first, count);
      in_tiles(
          count, [&]<int kRows>(Index k) __attribute__((always_inline)) {
            F *shares = shares_ + k * kQueries, *scores = score_slopes_ + k * kQueries;
            tile<kRows, 2, 1>(
                key_columns_ + first + k, column_, size_, query_block_, kQueries,
                [&](int r, int v) {
                  const V own = load(log_sums + v * kL);
                  return encoded ? own + load(shares + r * kQueries + v * kL) : own;
                },
                [&](int r, int v, V score) __attribute__((always_inline)) {
                  const V share = vector_exp(score);
                  store(shares + r * kQueries + v * kL,
                        diagonal ? masked(share, first - first_query + k + r, v, F(0)) : share);
                });
            tile<kRows, 2, 1>(
                value_columns_ + first + k, column_, size_, slope_block_, kQueries,
                [&](int, int v) { return load(means + v * kL); },
                [&](int r, int v, V slope) __attribute__((always_inline)) {
                  const Index place = r * kQueries + v * kL;
                  store(scores + place, load(shares + place) * slope);
                });
          });
      if (is_relative()) propagate_distances(first_query, first, count);
      if (of_queries) add_to_result(result_, keys_, first, count, score_slopes_);
      if (slopes_->values.first != nullptr)
        add_to_keys(value_slope_, first, count, shares_, slope_ + first_query * row_);
      if (slopes_->keys.first != nullptr)
        add_to_keys(key_slope_, first, count, score_slopes_, queries_ + first_query * row_);
    });
    if (!of_queries) return;
    const auto add_queries = [&](const F* result, F* bias) {
      visit_results(result, first_query, result_rows_, [&](Index t, F* from) {
        rotate(from, t, -1);
        if (slopes_->queries.first != nullptr)
          add_scaled(slopes_->queries.first + t * slopes_->queries.row + head_ * size_, from,
                     scale_, size_);
        if (bias != nullptr) add_scaled(bias + head_ * size_, from, scale_, size_);
      });
    };
    add_queries(result_, slopes_->content_bias);
    if (is_relative()) add_queries(distance_result_, slopes_->distance_bias);
  }

  static constexpr F kLeast = static_cast<F>(-3e38);

  const Attention<F>& z_;
  const AttentionSlopes<F>* slopes_;
  Index head_;
  const F* rotations_;
  Index size_, used_, row_, column_;  // D; whole units; padded; padded T
  F scale_;
  F *queries_, *keys_, *values_, *slope_, *key_slope_, *value_slope_;  // T x D
  F *key_columns_, *value_columns_;                                    // D x T
  F *query_block_, *slope_block_, *result_;                            // padded D x kQueries
  F* result_rows_;                                                     // kQueries x padded D
  F *shares_, *score_slopes_;                                          // kKeys x kQueries
  alignas(64) F alibi_[kQueries] = {};  // slope times number of a query; else 0
  // Of relative encodings, like those of keys and queries. A block of scores of distances is about
  // kKeys + kQueries x kQueries.
  F *distances_ = nullptr, *distance_columns_ = nullptr, *distance_queries_ = nullptr;
  F *distance_slope_ = nullptr, *distance_block_ = nullptr, *distance_result_ = nullptr;
  F* distance_scores_ = nullptr;
};

// Calls each(head) for all heads.
template <class F, class Each>
void in_heads(const Attention<F>& attention, const AttentionSlopes<F>* slopes, F* scratch,
              Each each) {
  const F* rotations = nullptr;
  if (attention.encoding == AttentionEncoding::rotary) {
    fill_rotations(attention, scratch);
    rotations = scratch;
    scratch += padded_size(attention.rows * attention.head_size);
  }
  for (Index head = 0; head < attention.heads; ++head) {
    AttentionHead<F> own(attention, slopes, head, rotations, scratch);
    each(own);
  }
}

template <class F>
AttentionKernel<F> kernel() {
  return {[](const Attention<F>& attention, F* scratch) {
            in_heads<F>(attention, nullptr, scratch, [](auto& head) { head.forward(); });
          },
          [](const Attention<F>& attention, const AttentionSlopes<F>& slopes, F* scratch) {
            in_heads<F>(attention, &slopes, scratch, [](auto& head) { head.backward(); });
          }};
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
AttentionKernel<float> isa_kernel<AttentionKernel<float>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel<float>();
}
template <>
AttentionKernel<double> isa_kernel<AttentionKernel<double>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel<double>();
}

}  // namespace pushdown
