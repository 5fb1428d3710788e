// Memory checks for tensors.
#pragma once

namespace pushdown {

// From now on, a CPU tensor that does not fit into memory throws std::runtime_error with the number
// of bytes needed and available. Without this, the system grants the memory and kills the process
// when it is used. A second call has no effect.
void refuse_large_tensors();

}  // namespace pushdown
