// A reserve of memory for the case that no memory is left.
#pragma once

namespace pushdown {

// Reserves some memory and lets `new` use it if an allocation fails. A small part is for the
// allocation itself, which is tried again, and the rest is for the destructors that run after a
// std::bad_alloc. Some of them need memory themselves (nlohmann takes lists apart through a list of
// their elements) and would end the program without it.
void keep_memory_reserve();

// Refills the reserve as far as there is memory.
void refill_memory_reserve() noexcept;

}  // namespace pushdown
