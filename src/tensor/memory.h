// Memory for tensors.
#pragma once

namespace pushdown {

// From now on a tensor on the processor for which there is not enough memory is a
// std::runtime_error with the bytes that it needs and those that there are. Without this the system
// grants the memory and kills the process when it is used. Has no effect the second time.
void refuse_large_tensors();

}  // namespace pushdown
