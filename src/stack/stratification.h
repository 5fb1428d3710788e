// Memories of vectors with strengths: stack, queue and double-ended queue (Grefenstette et al.
// 2015, equations 1-11), with readings of variable strength (Merrill et al. 2019, section 2.1).
// Sections V[1..S] are ordered from the bottom to the top; s[i] >= 0 is the strength of section i.
// All memories consist of three operations, where `before` are the sections between i and the end
// in question:
//   cut by u at an end      s'[i] = max(0, s[i] - max(0, u - sum_before s))
//   push                    a new outermost section with strength d
//   read r at an end        sum_i min(s[i], max(0, r - sum_before s)) V[i],   0 without sections
// stack: cut, pushed and read at the top. queue: cut and read at the bottom, pushed at the top.
// deque: cut at the top, then at the bottom, then pushed and read at both ends. r is 1 in the paper
// of 2015. Written as a recurrence from section to section, u - sum_before s and r - sum_before s
// are the u_t[i] and rho_t[i] of the paper of 2019.
//
// As printed, equations 7 and 8 run to i < 2(t-1) and sums to 2(t-1) - 1, which leaves out the
// outermost of the old 2(t-1) sections. Here all of them count, as equations 2 and 9 require.
//
// At kinks the derivatives are those of the paper's Appendix A: a section that exactly fits into
// the rest of the reading counts with its strength, and one that ends exactly where the pop does is
// not cut. If the sections before one fill the reading exactly, it still has the slope of its
// remaining room (the footnote about max(x, y) would give none). The slope of r is that of the
// room.
//
// Letters: B batch, K parallel memories, S sections, m numbers of a vector.
#pragma once
#include "kernel/memory/memory_shape.h"
#include "stack/stack.h"

namespace pushdown {

struct Strata {
  Tensor vectors;    // B x K x S x m, bottom first
  Tensor strengths;  // B x K x S
  // Strengths of the readings at the only end or the top, and at the bottom of a deque, B x K; 1 if
  // undefined.
  Tensor read{}, bottom_read{};
};

// The actions at one end.
struct StrataActions {
  Tensor push, pop;  // B x K
  Tensor vector;     // B x K x m
  Tensor read{};     // B x K; undefined for 1
};

Strata empty_strata(std::int64_t batch, std::int64_t memories, std::int64_t size,
                    at::TensorOptions options);
// `bottom` holds the actions at the other end of a deque; ignored for the others. Cost O(S m) for
// the copy of the vectors, O(S) for the strengths.
Strata strata_step(SectionEnds ends, const Strata& old, const StrataActions& top,
                   const StrataActions& bottom = {});
// Returns the share of every section in the reading at an end : B x K x S. `read` : B x K, or
// undefined for 1.
Tensor strata_shares(const Tensor& strengths, bool at_top, const Tensor& read = {});
// B x K x m; for a deque B x K x 2m, the reading at the top first.
Tensor strata_reading(SectionEnds ends, const Strata& strata);

}  // namespace pushdown
