#include "kernel/grammar/device_grammar.h"

#include "kernel/grammar/device_grammar_loop.h"

namespace pushdown {

std::int64_t device_inside_size(const DeviceGrammar& grammar, std::int64_t length) {
  return device::InsideLoop::size(grammar, length);
}

}  // namespace pushdown
