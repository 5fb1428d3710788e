#include "array/array_copies.h"

namespace pushdown {

void move_copied(ArrayProgram& program, std::size_t first, int own, int output) {
  auto& all = program.instructions;
  struct Range {
    std::int64_t first, last;
    bool operator==(const Range&) const = default;
  };
  const auto range = [](const ArrayInstruction& of, const ArrayView& view) {
    Range found{view.offset, view.offset};
    for (int d = 0; d < of.dims; ++d)
      (view.stride[d] < 0 ? found.first : found.last) += (of.shape[d] - 1) * view.stride[d];
    return found;
  };
  const auto meets = [&](const ArrayInstruction& of, const ArrayView& view, const Range& other) {
    const Range mine = range(of, view);
    return view.buffer == own && mine.first <= other.last && other.first <= mine.last;
  };
  for (auto i = first; i < all.size();) {
    const ArrayInstruction copy = all[i];
    const ArrayView& from = program.views[static_cast<std::size_t>(copy.first_view)];
    ArrayInstruction* writer = nullptr;
    bool only = copy.kind == ArrayKind::map && copy.calls == 0 && copy.dims == 1 &&
                from.buffer == own && copy.out.buffer == output && from.stride[0] == 1 &&
                copy.out.stride[0] == 1;
    const Range moved = range(copy, from);
    for (auto k = first; only && k < all.size(); ++k) {
      if (k == i) continue;
      for (int v = 0; v < all[k].views; ++v)
        only =
            only &&
            !meets(all[k], program.views[static_cast<std::size_t>(all[k].first_view + v)], moved);
      if (!meets(all[k], all[k].out, moved)) continue;
      only = only && writer == nullptr && range(all[k], all[k].out) == moved;
      writer = &all[k];
    }
    if (!only || writer == nullptr) {
      ++i;
      continue;
    }
    writer->out.buffer = output;
    writer->out.offset += copy.out.offset - from.offset;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace pushdown
