// The loops in which memories are written. A memory has one source for two kinds of teams
// (device_team.h):
//   - the CPU's team of one thread, which works with whole vectors. Such a source is compiled for
//     every instruction set, in separate namespaces, without functions of the standard library;
//   - a block of threads of a CUDA device, or CPU threads in tests, in the namespace device.
// Both sides have
//   Index, Count               of a number of one sequence; of sizes
//   StackMemory                the memory of a stack
//   row_size(n)                the numbers of a row of n, which loops may write as a whole
//   kRowPadding                how far past the end of a row they may write
//   each, each_between, sigmoids, tanhs
//                              elementwise; number i belongs to thread i mod size
//   expected_values            of softmax distributions
//   dot                        by every thread of the team
//   mix, sum_products          mixtures of rows and the gradients of their weights
// Numbers that another thread wrote are visible after a barrier, team.sync().
#pragma once
#ifdef PUSHDOWN_ISA
#include "kernel/memory/processor_loops.h"
#define PUSHDOWN_MEMORY_NAMESPACE PUSHDOWN_ISA_NAMESPACE
#else
#include "kernel/memory/device_loops.h"
#define PUSHDOWN_MEMORY_NAMESPACE device
#endif
