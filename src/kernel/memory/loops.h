// The loops that memories are written in. A memory has one source for two kinds of teams
// (device_team.h):
//   - the processor's team of one thread, which works by whole vectors; such a source is compiled
//     for every instruction set, in namespaces of their own, without functions of the standard
//     library;
//   - a block of threads of a CUDA device, or threads of the processor in tests, in the namespace
//     device.
// Both sides have
//   Index, Count               of a number of one sequence; of sizes
//   StackMemory                where a memory keeps its numbers
//   row_size(n)                the numbers of a row of n, which loops may write as a whole
//   kRowPadding                how far behind the end of a row they may write
//   each, each_between, sigmoids, tanhs
//                              number by number; number i belongs to thread i mod size
//   expected_values            of softmax distributions
//   dot                        by every thread of the team
//   mix, sum_products          mixtures of rows and the gradients of their weights
// Numbers that another thread wrote are there behind a barrier, team.sync().
#pragma once
#ifdef PUSHDOWN_ISA
#include "kernel/memory/processor_loops.h"
#define PUSHDOWN_MEMORY_NAMESPACE PUSHDOWN_ISA_NAMESPACE
#else
#include "kernel/memory/device_loops.h"
#define PUSHDOWN_MEMORY_NAMESPACE device
#endif
