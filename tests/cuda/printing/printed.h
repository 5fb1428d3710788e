// The kernels of the printed code that is part of test_cuda. Includes nothing of the project,
// because printed code contains its headers.
#pragma once
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "cuda/cuda_runtime.h"

namespace pushdown::testing_support {

using AnyFunction = void (*)();
struct PrintedKernels {
  AnyFunction forward = nullptr, backward = nullptr;
};
// By the hash of their text; null if there are none.
const PrintedKernels* find_printed(std::uint64_t hash);
bool keep_printed(std::uint64_t hash, const PrintedKernels& kernels);
template <class Kernel>
bool add_printed(std::uint64_t hash, Kernel* forward, Kernel* backward) {
  return keep_printed(
      hash, {reinterpret_cast<AnyFunction>(forward), reinterpret_cast<AnyFunction>(backward)});
}

// A barrier, unless it is the one to leave out. Those between the parts of a step have numbers from
// 0; -n is the one of line n of the printed file. In each, the same lines contain the headers.
inline constexpr int kNoBarrier = std::numeric_limits<int>::min();
void wait_at(int barrier);
void leave_out_barrier(int barrier);
// The barriers that are reached from now on are added to this set, unless it is null.
void note_barriers(std::set<int>* reached);
// The lines of a printed file before the headers.
inline const std::string kPrintedBegin =
    "namespace pushdown::testing_support { void wait_at(int); }\n"
    "#define PUSHDOWN_KERNEL static\n"
    "#define PUSHDOWN_BARRIER(number) ::pushdown::testing_support::wait_at(number)\n";

// FNV-1a
inline std::uint64_t text_hash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return hash;
}

}  // namespace pushdown::testing_support
