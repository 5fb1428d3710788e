// How the scores of attention depend on the positions t of a query and s of a key
// (kernel/attention/attention.h).
#pragma once
#include <cstdint>

namespace pushdown {

enum class AttentionEncoding : std::uint8_t { none, rotary, alibi, relative };

}  // namespace pushdown
