// The operations of transformers among those of a trace.
#include "base/check.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

Traced StepTrace::normalize(const Traced& x, const Tensor& gain, const Tensor& bias) {
  check(gain.size(0) == size(x) && bias.size(0) == size(x), "step_trace",
        "the gain and the bias of {} numbers are as many, got {} and {}", size(x), gain.size(0),
        bias.size(0));
  StepNode node{StepOp::normalize};
  node.size = size(x);
  node.a = node_of(x);
  node.b = node_of(constant(gain));
  node.c = node_of(constant(bias));
  return {this, add(node)};
}

Traced StepTrace::attention(const Traced& queries, const Traced& keys, const Traced& values,
                            std::int64_t heads, AttentionEncoding encoding,
                            const std::vector<Traced>& relative) {
  check(size(queries) == size(keys) && size(keys) == size(values) && size(keys) % heads == 0,
        "step_trace", "attention with {} heads takes three vectors of one size, got {}, {} and {}",
        heads, size(queries), size(keys), size(values));
  StepNode node{StepOp::attention};
  node.size = size(values);
  node.a = node_of(queries);
  node.b = node_of(keys);
  node.c = node_of(values);
  node.offset = node.size / heads;
  node.encoding = encoding;
  check(relative.size() == (encoding == AttentionEncoding::relative ? 3 : 0), "step_trace",
        "relative attention takes three more vectors, got {}", relative.size());
  check(encoding != AttentionEncoding::rotary || node.offset % 2 == 0, "step_trace",
        "heads of rotary attention have an even size, got {}", node.offset);
  std::vector<int> nodes;
  for (const Traced& own : relative) {
    check(size(own) == node.size, "step_trace", "relative attention of {} numbers was given {}",
          node.size, size(own));
    nodes.push_back(node_of(own));
  }
  node.first_operand = static_cast<int>(operands_.size());
  node.operands = static_cast<int>(nodes.size());
  operands_.insert(operands_.end(), nodes.begin(), nodes.end());
  return {this, add(node)};
}

}  // namespace pushdown
