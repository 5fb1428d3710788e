// Memory for the moment when there is none left.
#pragma once

namespace pushdown {

// Takes some memory into reserve, and makes `new` use it where it finds none: a small part for the
// allocation itself, which is tried again, and the rest for the destructors that run behind a
// std::bad_alloc. Some of them need memory themselves (nlohmann's lists are taken apart through a
// list of their elements), and would end the program without.
void keep_memory_reserve();

// Takes again what was used of the reserve, as far as there is memory.
void refill_memory_reserve() noexcept;

}  // namespace pushdown
