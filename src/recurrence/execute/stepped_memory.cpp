#include "recurrence/execute/stepped_memory.h"

#include "base/parallel.h"
#include "kernel/memory/memory_functions.h"
#include "recurrence/execute/step_function.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {
namespace {

// Rows are read and written in whole vectors.
Tensor padded_rows(std::int64_t batch, std::int64_t size, const at::TensorOptions& options) {
  return at::empty({batch, padded_size(size) + kPadding}, options);
}
Tensor padded_rows(const Tensor& values) {
  const Tensor rows =
      at::zeros({values.size(0), padded_size(values.size(1)) + kPadding}, values.options());
  rows.narrow(1, 0, values.size(1)).copy_(values);
  return rows;
}

// Row b of a tensor, as a pointer to the numbers of a kernel.
struct RowOf {
  const Tensor& rows;
  std::int64_t b;
  template <class F>
  operator F*() const {
    if (!rows.defined()) return nullptr;
    return rows.data_ptr<std::remove_const_t<F>>() + b * rows.stride(0);
  }
};

}  // namespace

SteppedMemory::SteppedMemory(const MemoryShape& shape, std::int64_t batch,
                             at::TensorOptions options)
    : shape_(shape), row_start_(row_starts(shape.automaton)), batch_(batch), options_(options) {
  shape_.automaton.row_start = row_start_.data();
  AT_DISPATCH_FLOATING_TYPES(c10::typeMetaToScalarType(options.dtype()), "memory", [&] {
    const auto memory = kernel_for<MemoryFunctions<scalar_t>>(current_isa(), shape_);
    objects_ = at::empty({batch, (memory.object_size + 63) / 64 * 64}, at::kByte);
    tape_ = at::empty({batch, memory.tape_size(shape_) + kPadding}, options);
    scratch_ = at::empty({batch, memory.scratch_size(shape_) + kPadding}, options);
  });
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    memory.make(object, shape_, RowOf{tape_, b}, RowOf{scratch_, b});
  });
}

template <class Body>
void SteppedMemory::in_sequences(const Body& body) const {
  constexpr std::int64_t kWorthAThread = 20000;  // numbers that a sequence has written
  AT_DISPATCH_FLOATING_TYPES(tape_.scalar_type(), "memory", [&] {
    const auto memory = kernel_for<MemoryFunctions<scalar_t>>(current_isa(), shape_);
    const auto one = [&](std::int64_t b) {
      body(memory, objects_.data_ptr<std::uint8_t>() + b * objects_.stride(0), b);
    };
    if (tape_.size(1) * updates_ / room() >= kWorthAThread) return parallel_for(batch_, one);
    for (std::int64_t b = 0; b < batch_; ++b) one(b);
  });
}

std::size_t SteppedMemory::bytes() const {
  return (tape_.numel() + scratch_.numel()) * tape_.element_size();
}

void SteppedMemory::repeat(const SteppedMemory& other, std::int64_t updates) {
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    memory.repeat(object, other.objects_.data_ptr<std::uint8_t>() + b * other.objects_.stride(0),
                  updates);
  });
  updates_ = updates;
}

SteppedMemoryPtr SteppedMemory::rewound(std::int64_t updates) const {
  auto other = std::make_shared<SteppedMemory>(shape_, batch_, options_);
  other->repeat(*this, updates);
  return other;
}

Tensor SteppedMemory::begin(const Tensor& initial) {
  const Tensor given = initial.defined() ? padded_rows(initial) : initial;
  const Tensor read = padded_rows(batch_, shape_.reading, options_);
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    memory.begin(object, RowOf{given, b}, RowOf{read, b});
  });
  return read.narrow(1, 0, shape_.reading);
}

Tensor SteppedMemory::update(const Tensor& actions) {
  if (updates_ == room()) {
    MemoryShape shape = shape_;
    shape.steps += room();
    shape.automaton.steps += room();
    SteppedMemory larger(shape, batch_, options_);
    larger.repeat(*this, updates_);
    larger.cuts_ = std::move(cuts_);
    *this = std::move(larger);
  }
  const auto u = updates_++;
  const Tensor given = padded_rows(actions), read = padded_rows(batch_, shape_.reading, options_);
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    memory.forward(object, u, RowOf{given, b}, RowOf{read, b});
  });
  return read.narrow(1, 0, shape_.reading);
}

Tensor SteppedMemory::left(std::int64_t updates, std::int64_t size) const {
  const Tensor result = at::empty({batch_, size}, options_);
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    memory.end_after(object, updates);
    memory.leave(object, RowOf{result, b});
  });
  return result;
}

// The engine visits the updates in order; any other order is a new pass over the graph.
bool SteppedMemory::begins_backward(std::int64_t u) {
  const bool begins = u != next_ || cuts_.contains(u);
  next_ = u - 1;
  return begins;
}

Tensor SteppedMemory::backward(std::int64_t u, const Tensor& slopes) {
  const bool begins = begins_backward(u);
  const Tensor given = padded_rows(slopes), result = padded_rows(batch_, shape_.actions, options_);
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    if (begins) {
      memory.end_after(object, u + 1);
      memory.begin_backward(object);
    }
    memory.backward(object, u, RowOf{given, b}, RowOf{result, b});
  });
  return result.narrow(1, 0, shape_.actions);
}

Tensor SteppedMemory::end_backward(const Tensor& slopes, std::int64_t size) {
  const bool begins = begins_backward(-1);
  const Tensor given = padded_rows(slopes), result = padded_rows(batch_, size, options_);
  in_sequences([&](const auto& memory, void* object, std::int64_t b) {
    if (begins) {
      memory.end_after(object, 0);
      memory.begin_backward(object);
    }
    memory.end_backward(object, RowOf{given, b}, RowOf{result, b});
  });
  return result.narrow(1, 0, size);
}

namespace {

// An update, or what comes before the first one, as a run (step_function.h).
struct MemoryUpdate {
  SteppedMemoryPtr memory;
  Tensor given;
  bool first;
  std::int64_t u = -1, size = given.defined() ? given.size(1) : 0;

  Tensor forward() {
    if (first) return memory->begin(std::exchange(given, Tensor()));
    u = memory->updates();
    return memory->update(std::exchange(given, Tensor()));
  }
  variable_list backward(const Tensor& slopes) {
    if (first) return {memory->end_backward(slopes, size)};
    return {memory->backward(u, slopes), Tensor()};
  }
};

}  // namespace

std::pair<SteppedMemoryPtr, Tensor> begin_memory(const MemoryShape& shape, std::int64_t batch,
                                                 at::TensorOptions options, const Tensor& initial) {
  auto memory = std::make_shared<SteppedMemory>(shape, batch, options);
  const variable_list inputs = initial.defined() ? variable_list{initial} : variable_list{};
  Tensor read = run_function<MemoryUpdate>(
      "BeginMemory", inputs, [&](auto& made, bool) { made.emplace(memory, initial, true); });
  return {std::move(memory), std::move(read)};
}

Tensor update_memory(const SteppedMemoryPtr& memory, const Tensor& actions,
                     const Tensor& previous) {
  if (!previous.requires_grad()) memory->cut();
  return run_function<MemoryUpdate>("UpdateMemory", {actions, previous}, [&](auto& made, bool) {
    made.emplace(memory, actions, false);
  });
}

}  // namespace pushdown
