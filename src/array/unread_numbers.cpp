#include "array/unread_numbers.h"

#include <algorithm>

namespace pushdown {
namespace {

// Which numbers of a buffer are read.
class Numbers {
 public:
  bool operator[](std::int64_t i) const {
    return i < static_cast<std::int64_t>(read_.size()) && read_[static_cast<std::size_t>(i)];
  }
  void add(std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    if (place >= read_.size()) read_.resize(place + 1);
    read_[place] = true;
  }

 private:
  std::vector<bool> read_;
};

// Calls visit(index, location) for every index of the instruction's space.
template <class Visit>
void walk(const ArrayInstruction& of, const ArrayView& view, const Visit& visit) {
  const auto first = of.shape, end = of.shape + of.dims;
  if (std::find(first, end, 0) != end) return;
  std::int64_t index[kArrayDims] = {}, location = view.offset;
  for (;;) {
    visit(index, location);
    int d = of.dims - 1;
    for (; d >= 0 && index[d] + 1 == of.shape[d]; --d) {
      location -= index[d] * view.stride[d];
      index[d] = 0;
    }
    if (d < 0) return;
    ++index[d];
    location += view.stride[d];
  }
}

class Dropping {
 public:
  Dropping(const ArrayProgram& reading, ArrayProgram& update)
      : reading_(reading), update_(update) {}

  void run() {
    ArrayProgram made;
    made.steps.resize(update_.steps.size());
    Body next;  // of the step after this one
    Numbers read;
    for (std::size_t t = update_.steps.size(); t-- > 0;) {
      Body body = rest(update_.steps[t], read);
      mark_reading(t, read);
      ArrayStep& step = made.steps[t];
      if (t + 1 < update_.steps.size() && body == next) {
        step = made.steps[t + 1];
      } else {
        step.first = static_cast<int>(made.instructions.size());
        for (ArrayInstruction of : body.instructions) {
          of.first_view += static_cast<int>(made.views.size());
          made.instructions.push_back(of);
        }
        step.end = static_cast<int>(made.instructions.size());
        made.views.insert(made.views.end(), body.views.begin(), body.views.end());
      }
      step.memory = update_.steps[t].memory;
      next = std::move(body);
    }
    update_.instructions = std::move(made.instructions);
    update_.views = std::move(made.views);
    update_.steps = std::move(made.steps);
  }

 private:
  struct Body {
    std::vector<ArrayInstruction> instructions;  // with places among these views
    std::vector<ArrayView> views;
    bool operator==(const Body&) const = default;
  };

  // Returns a step without what is not needed for the numbers `read` of the state after it, which
  // then are those of the state before it.
  Body rest(const ArrayStep& step, Numbers& read) const {
    const int output = static_cast<int>(update_.inputs.size()), own = output + 2;
    Numbers before, memory;
    const auto numbers = [&](int buffer) {
      return buffer == 0 ? &before : buffer == output ? &read : buffer == own ? &memory : nullptr;
    };
    std::vector<std::pair<ArrayInstruction, std::vector<ArrayView>>> kept;
    for (int i = step.end; i-- > step.first;) {
      ArrayInstruction of = update_.instructions[static_cast<std::size_t>(i)];
      const auto first = update_.views.begin() + of.first_view;
      std::vector<ArrayView> views(first, first + of.views);
      if (const Numbers* wanted = numbers(of.out.buffer); wanted && !narrow(of, views, *wanted))
        continue;
      for (const ArrayView& view : views)
        if (Numbers* of_view = numbers(view.buffer))
          walk(of, view,
               [&](const std::int64_t*, std::int64_t location) { of_view->add(location); });
      kept.emplace_back(of, std::move(views));
    }
    Body body;
    for (auto it = kept.rbegin(); it != kept.rend(); ++it) {
      it->first.first_view = static_cast<int>(body.views.size());
      body.instructions.push_back(it->first);
      body.views.insert(body.views.end(), it->second.begin(), it->second.end());
    }
    read = std::move(before);
    return body;
  }

  // Reduces the space to the smallest box with all wanted results. Returns false if there are none.
  static bool narrow(ArrayInstruction& of, std::vector<ArrayView>& views, const Numbers& wanted) {
    std::int64_t low[kArrayDims], high[kArrayDims];
    std::copy(of.shape, of.shape + kArrayDims, low);
    std::fill(high, high + kArrayDims, 0);
    bool any = false;
    walk(of, of.out, [&](const std::int64_t* index, std::int64_t location) {
      if (!wanted[location]) return;
      any = true;
      for (int d = 0; d < of.dims; ++d) {
        low[d] = std::min(low[d], index[d]);
        high[d] = std::max(high[d], index[d] + 1);
      }
    });
    // All kinds but maps need their whole last dimension.
    const int dims = of.kind == ArrayKind::map ? of.dims : of.dims - 1;
    for (int d = 0; any && d < dims; ++d) {
      of.shape[d] = high[d] - low[d];
      of.out.offset += low[d] * of.out.stride[d];
      for (ArrayView& view : views) view.offset += low[d] * view.stride[d];
    }
    return any;
  }

  void mark_reading(std::size_t t, Numbers& read) const {
    const ArrayStep& step = reading_.steps[t];
    for (int i = step.first; i < step.end; ++i) {
      const ArrayInstruction& of = reading_.instructions[static_cast<std::size_t>(i)];
      for (int k = 0; k < of.views; ++k) {
        const ArrayView& view = reading_.views[static_cast<std::size_t>(of.first_view + k)];
        if (view.buffer == 0)
          walk(of, view, [&](const std::int64_t*, std::int64_t location) { read.add(location); });
      }
    }
  }

  const ArrayProgram& reading_;
  ArrayProgram& update_;
};

}  // namespace

void drop_unread_numbers(const ArrayProgram& reading, ArrayProgram& update) {
  Dropping(reading, update).run();
}

}  // namespace pushdown
