// Included in front of everything when Clang builds the fuzz targets (PUSHDOWN_FUZZ) with GCC's
// standard library. LibTorch before 2.0 has classes with vectors of classes that are not complete
// yet. Clang refuses those where the members of std::vector are constexpr, as they are in C++20.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#ifdef __GLIBCXX__
#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#define __fill_a1 __fill_bits  // declared before, as constexpr
#include <vector>
#undef __fill_a1
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
// The definition that was declared before, under the name that the linker knows it by.
__attribute__((used)) inline void pushdown_fill_bits(std::_Bit_iterator first,
                                                     std::_Bit_iterator last, const bool& value)
    __asm__("_ZSt9__fill_a1St13_Bit_iteratorS_RKb");
inline void pushdown_fill_bits(std::_Bit_iterator first, std::_Bit_iterator last,
                               const bool& value) {
  std::__fill_bits(first, last, value);
}
#endif
