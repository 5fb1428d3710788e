#include "array/appended_parts.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace pushdown {
namespace {

using Sizes = std::vector<std::int64_t>;

class Sharing {
 public:
  Sharing(const std::vector<Sizes>& sizes, ArrayProgram& reading, ArrayProgram& update)
      : sizes_(sizes), reading_(reading), update_(update) {}

  std::int64_t run() {
    if (!is_suitable()) return 0;
    find_shared();
    std::int64_t room = 0;
    for (std::size_t part = 0; part < shared_.size(); ++part) {
      if (!shared_[part]) continue;
      rooms_[part] = room;
      room += padded_size(sizes_.back()[part]);
    }
    if (room == 0) return 0;
    for (std::size_t t = 0; t < reading_.steps.size(); ++t) move(reading_, t, false);
    for (std::size_t t = 0; t + 1 < sizes_.size(); ++t) move(update_, t, true);
    update_.output = 1;
    for (std::size_t t = 1; t < sizes_.size(); ++t)
      update_.output = std::max(update_.output, left_before(t, shared_.size()));
    for (ArrayProgram* program : {&reading_, &update_}) drop_copies(*program);
    reading_.inputs.emplace_back("appended");
    update_.inputs.emplace_back("appended");
    return room;
  }

 private:
  // The location of a part's numbers: before step t, or in the output of step t - 1.
  struct Found {
    std::size_t part;
    std::int64_t offset;  // in the part
  };

  int state() const { return 0; }
  int output() const { return static_cast<int>(update_.inputs.size()); }

  // Every step must have its own instructions, as it has if anything grows.
  bool is_suitable() {
    if (sizes_.size() < 4 || reading_.steps.size() != sizes_.size() ||
        update_.steps.size() != sizes_.size())
      return false;
    for (std::size_t t = 2; t < sizes_.size(); ++t)
      if (sizes_[t].size() != sizes_[1].size()) return false;
    const auto repeats = [](const ArrayStep& a, const ArrayStep& b) {
      return a.first == b.first && a.first < a.end;
    };
    for (const ArrayProgram* program : {&reading_, &update_})
      if (std::adjacent_find(program->steps.begin(), program->steps.end(), repeats) !=
          program->steps.end())
        return false;
    return true;
  }
  std::int64_t before(std::size_t t, std::size_t part) const {
    return std::accumulate(sizes_[t].begin(), sizes_[t].begin() + static_cast<std::ptrdiff_t>(part),
                           std::int64_t{0});
  }
  // The same, of the parts that are not shared.
  std::int64_t left_before(std::size_t t, std::size_t part) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < part; ++k) sum += shared_[k] ? 0 : sizes_[t][k];
    return sum;
  }
  std::optional<Found> find(std::size_t t, std::int64_t offset) const {
    for (std::size_t part = 0; part < sizes_[t].size(); ++part) {
      if (offset < sizes_[t][part]) return Found{part, offset};
      offset -= sizes_[t][part];
    }
    return std::nullopt;
  }

  // Returns whether it copies the whole part to the start of the same part.
  bool keeps(const ArrayInstruction& of, std::size_t t, std::size_t part) const {
    if (of.kind != ArrayKind::map || of.calls > 0 || of.dims != 1) return false;
    const ArrayView& from = update_.views[static_cast<std::size_t>(of.first_view)];
    const auto size = sizes_[t][part];
    return from.buffer == state() && from.offset == before(t, part) && of.out.buffer == output() &&
           of.out.offset == before(t + 1, part) && of.shape[0] == size &&
           (size == 1 || (from.stride[0] == 1 && of.out.stride[0] == 1));
  }
  void find_shared() {
    shared_.assign(sizes_[1].size(), 1);
    rooms_.assign(shared_.size(), 0);
    for (std::size_t t = 1; t + 1 < sizes_.size(); ++t) {
      const ArrayStep& step = update_.steps[t];
      for (std::size_t part = 0; part < shared_.size(); ++part) {
        bool kept = false;
        for (int i = step.first; i < step.end && shared_[part] && !kept; ++i)
          kept = keeps(update_.instructions[static_cast<std::size_t>(i)], t, part);
        shared_[part] = shared_[part] && kept;
      }
    }
  }

  // Moves a view of the state before step t.
  void move(ArrayView& view, std::size_t t) const {
    const int room = output();
    const auto found = find(t, view.offset);
    if (!found) return;  // an empty view
    if (shared_[found->part]) {
      view.buffer = room;
      view.offset = rooms_[found->part] + found->offset;
    } else {
      view.offset = left_before(t, found->part) + found->offset;
    }
  }
  void move(ArrayProgram& program, std::size_t t, bool updates) {
    const ArrayStep& step = program.steps[t];
    const int result = output();
    const auto one = [&](ArrayView& view) {
      const bool of_state = view.buffer == state() && t > 0;
      const bool of_result = view.buffer == result && updates;
      if (view.buffer >= result) ++view.buffer;  // the room comes before them
      if (of_state) move(view, t);
      if (of_result) move(view, t + 1);
    };
    for (int i = step.first; i < step.end; ++i) {
      ArrayInstruction& of = program.instructions[static_cast<std::size_t>(i)];
      for (int k = 0; k < of.views; ++k)
        one(program.views[static_cast<std::size_t>(of.first_view + k)]);
      one(of.out);
    }
  }
  // Copies of a number to its own place.
  void drop_copies(ArrayProgram& program) const {
    std::vector<ArrayInstruction> kept;
    for (ArrayStep& step : program.steps) {
      const auto first = static_cast<int>(kept.size());
      for (int i = step.first; i < step.end; ++i) {
        const ArrayInstruction& of = program.instructions[static_cast<std::size_t>(i)];
        const ArrayView& from = program.views[static_cast<std::size_t>(of.first_view)];
        const bool stays = of.kind == ArrayKind::map && of.calls == 0 &&
                           of.out.buffer == output() && from.buffer == output() &&
                           from.offset == of.out.offset;
        if (!stays) kept.push_back(of);
      }
      step.first = first;
      step.end = static_cast<int>(kept.size());
    }
    program.instructions = std::move(kept);
  }

  const std::vector<Sizes>& sizes_;
  ArrayProgram &reading_, &update_;
  std::vector<char> shared_;
  Sizes rooms_;
};

}  // namespace

std::int64_t share_appended_parts(const std::vector<Sizes>& sizes, ArrayProgram& reading,
                                  ArrayProgram& update) {
  return Sharing(sizes, reading, update).run();
}

}  // namespace pushdown
