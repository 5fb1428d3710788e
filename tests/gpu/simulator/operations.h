// The effects of instructions on registers, memory and the position of a group. Operands are in the
// order of the disassembly.
#pragma once
#include "gpu/simulator/execution.h"

namespace pushdown::gpu_simulator::operations {

// integer_operations.cpp
void move(Execution& e);
void add_three(Execution& e);         // IADD3: d [carry [carry]] a b c [carry carry]
void add_two(Execution& e);           // VIADD: d a b
void multiply_add(Execution& e);      // IMAD: d [carry] a b c [carry]
void shift_add(Execution& e);         // LEA: d [carry] a b [high a] shift [carry]
void absolute(Execution& e);          // IABS: d a
void extend_sign(Execution& e);       // SGXT: d a bits
void extreme(Execution& e);           // VIMNMX: d a b (minimum?)
void extreme_of_sum(Execution& e);    // VIADDMNMX: d a b c (minimum?)
void choose(Execution& e);            // SEL: d a b p
void funnel_shift(Execution& e);      // SHF: d low shift high
void logic(Execution& e);             // LOP3: [p] d a b c table p
void predicate_logic(Execution& e);   // PLOP3: p q a b c table table
void compare_integers(Execution& e);  // ISETP: p q a b combined [low]
void permute_bytes(Execution& e);     // PRMT: d a selectors b
void predicates_to_register(Execution& e);
void register_to_predicates(Execution& e);
void count_bits(Execution& e);  // POPC: d a

// float_operations.cpp
void float_add(Execution& e);
void float_multiply(Execution& e);
void float_multiply_add(Execution& e);
void float_extreme(Execution& e);   // FMNMX: d a b (minimum?)
void float_choose(Execution& e);    // FSEL: d a b p
void float_compare(Execution& e);   // FSETP: p q a b combined
void float_indicate(Execution& e);  // FSET: d a b combined
void check_quotient(Execution& e);  // FCHK: p a b
void special_function(Execution& e);
void half_constant(Execution& e);  // HFMA2.MMA: d -RZ RZ high low
void integer_to_float(Execution& e);
void float_to_integer(Execution& e);
void float_to_float(Execution& e);
void round_float(Execution& e);

// memory_operations.cpp
void load(Execution& e);
void store(Execution& e);
void load_shared(Execution& e);
void store_shared(Execution& e);
void load_local(Execution& e);
void store_local(Execution& e);
void load_constant(Execution& e);
void shuffle(Execution& e);  // SHFL: p d a b limits

// control_operations.cpp
void nothing(Execution& e);
void set_convergence(Execution& e);
void leave_convergence(Execution& e);
void converge(Execution& e);
void move_convergence(Execution& e);
void synchronize_warp(Execution& e);
void synchronize_block(Execution& e);
void branch(Execution& e);
void call(Execution& e);
void return_from_call(Execution& e);
void exit(Execution& e);
[[noreturn]] void trap(Execution& e);
void special_register(Execution& e);
void zero_register(Execution& e);
void to_uniform(Execution& e);
void vote(Execution& e);

}  // namespace pushdown::gpu_simulator::operations
