#include "gpu/simulator/instruction_set.h"

#include <unordered_map>

#include "gpu/simulator/operations.h"

namespace pushdown::gpu_simulator {
namespace {

using enum InstructionClass;
using namespace operations;

constexpr std::string_view kSizes = "E U8 S8 U16 S16 32 64 128 CONSTANT LU",
                           kShift = "L R HI U32 S32 U64 S64";

constexpr Operation kOperations[] = {
    // name, class, pipe, latency, modifiers, effect
    {"FFMA", multiply_add, Pipe::multiply_add, Latency::fixed, "FTZ SAT RM RP RZ",
     float_multiply_add},
    {"FADD", other_float, Pipe::multiply_add, Latency::fixed, "FTZ SAT RM RP RZ", float_add},
    {"FMUL", other_float, Pipe::multiply_add, Latency::fixed, "FTZ SAT", float_multiply},
    {"FMNMX", other_float, Pipe::integer, Latency::fixed, "FTZ NAN", float_extreme},
    {"FSEL", other_float, Pipe::integer, Latency::fixed, "FTZ", float_choose},
    {"FSETP", other_float, Pipe::integer, Latency::fixed, "<=> AND OR XOR FTZ", float_compare},
    {"FSET", other_float, Pipe::integer, Latency::fixed, "<=> AND OR XOR FTZ BF", float_indicate},
    {"FCHK", other_float, Pipe::integer, Latency::special_function, "", check_quotient},
    {"MUFU", special_function, Pipe::special, Latency::special_function,
     "RCP EX2 LG2 RSQ SQRT TANH", operations::special_function},
    {"I2F", special_function, Pipe::special, Latency::special_function, "U32 U64 S64 RM RP RZ",
     integer_to_float},
    {"I2FP", special_function, Pipe::integer, Latency::fixed, "F32 U32 S32 RM RP RZ",
     integer_to_float},
    {"F2I", special_function, Pipe::special, Latency::special_function, "FTZ U32 U64 TRUNC NTZ",
     float_to_integer},
    {"F2F", special_function, Pipe::special, Latency::special_function, "F32 F64", float_to_float},
    {"FRND", special_function, Pipe::special, Latency::special_function, "FTZ TRUNC", round_float},

    {"LDG", global_load, Pipe::other, Latency::memory, kSizes, load},
    {"LD", global_load, Pipe::other, Latency::memory, kSizes, load},
    {"STG", global_store, Pipe::other, Latency::memory, kSizes, store},
    {"ST", global_store, Pipe::other, Latency::memory, kSizes, store},
    {"LDS", shared_memory, Pipe::other, Latency::memory, kSizes, load_shared},
    {"STS", shared_memory, Pipe::other, Latency::memory, kSizes, store_shared},
    {"LDL", local_memory, Pipe::other, Latency::memory, kSizes, load_local},
    {"STL", local_memory, Pipe::other, Latency::memory, kSizes, store_local},
    {"LDC", constant_memory, Pipe::other, Latency::constant, "U8 64", load_constant},
    {"ULDC", constant_memory, Pipe::other, Latency::uniform_constant, "U8 64", load_constant},
    {"SHFL", InstructionClass::shuffle, Pipe::other, Latency::shuffle, "BFLY UP DOWN IDX",
     operations::shuffle},
    {"BAR", barrier, Pipe::other, Latency::fixed, "SYNC DEFER_BLOCKING", synchronize_block},

    {"BRA", control, Pipe::other, Latency::fixed, "DIV", branch},
    {"BSSY", control, Pipe::other, Latency::fixed, "", set_convergence},
    {"BSYNC", control, Pipe::other, Latency::fixed, "", converge},
    {"BREAK", control, Pipe::other, Latency::fixed, "", leave_convergence},
    {"BMOV", control, Pipe::integer, Latency::fixed, "32 CLEAR", move_convergence},
    {"CALL", control, Pipe::other, Latency::fixed, "REL NOINC", call},
    {"RET", control, Pipe::other, Latency::fixed, "REL NODEC", return_from_call},
    {"EXIT", control, Pipe::other, Latency::fixed, "", operations::exit},
    {"BPT", control, Pipe::other, Latency::fixed, "TRAP", trap},
    {"WARPSYNC", control, Pipe::other, Latency::fixed, "ALL COLLECTIVE", synchronize_warp},
    {"ENDCOLLECTIVE", control, Pipe::other, Latency::fixed, "", nothing},
    {"NOP", control, Pipe::other, Latency::fixed, "", nothing},

    {"MOV", integer, Pipe::integer, Latency::fixed, "", move},
    {"UMOV", integer, Pipe::integer, Latency::fixed, "", move},
    {"HFMA2", integer, Pipe::multiply_integer, Latency::fixed, "MMA", half_constant},
    {"CS2R", integer, Pipe::integer, Latency::fixed, "32", zero_register},
    {"S2R", integer, Pipe::other, Latency::special_register, "", special_register},
    {"S2UR", integer, Pipe::other, Latency::special_register, "", special_register},
    {"R2UR", integer, Pipe::integer, Latency::to_uniform, "", to_uniform},
    {"VOTE", integer, Pipe::integer, Latency::fixed, "ANY ALL", vote},
    {"VOTEU", integer, Pipe::integer, Latency::fixed, "ANY ALL", vote},
    {"IADD3", integer, Pipe::integer, Latency::fixed, "X", add_three},
    {"UIADD3", integer, Pipe::integer, Latency::fixed, "X", add_three},
    {"VIADD", integer, Pipe::integer, Latency::fixed, "", add_two},
    {"IMAD", integer, Pipe::multiply_integer, Latency::fixed, "U32 X HI WIDE MOV IADD SHL",
     operations::multiply_add},
    {"UIMAD", integer, Pipe::integer, Latency::fixed, "U32 X HI WIDE", operations::multiply_add},
    {"LEA", integer, Pipe::integer, Latency::fixed, "HI X SX32", shift_add},
    {"ULEA", integer, Pipe::integer, Latency::fixed, "HI X SX32", shift_add},
    {"IABS", integer, Pipe::integer, Latency::fixed, "", absolute},
    {"SGXT", integer, Pipe::integer, Latency::fixed, "U32", extend_sign},
    {"VIMNMX", integer, Pipe::integer, Latency::fixed, "U32", extreme},
    {"VIADDMNMX", integer, Pipe::integer, Latency::fixed, "U32", extreme_of_sum},
    {"SEL", integer, Pipe::integer, Latency::fixed, "", choose},
    {"USEL", integer, Pipe::integer, Latency::fixed, "", choose},
    {"SHF", integer, Pipe::integer, Latency::fixed, kShift, funnel_shift},
    {"USHF", integer, Pipe::integer, Latency::fixed, kShift, funnel_shift},
    {"LOP3", integer, Pipe::integer, Latency::fixed, "LUT", logic},
    {"ULOP3", integer, Pipe::integer, Latency::fixed, "LUT", logic},
    {"PLOP3", integer, Pipe::integer, Latency::fixed, "LUT", predicate_logic},
    {"UPLOP3", integer, Pipe::integer, Latency::fixed, "LUT", predicate_logic},
    {"ISETP", integer, Pipe::integer, Latency::fixed, "<=> AND OR XOR U32 EX", compare_integers},
    {"UISETP", integer, Pipe::integer, Latency::fixed, "<=> AND OR XOR U32 EX", compare_integers},
    {"PRMT", integer, Pipe::integer, Latency::fixed, "", permute_bytes},
    {"UPRMT", integer, Pipe::integer, Latency::fixed, "", permute_bytes},
    {"P2R", integer, Pipe::integer, Latency::fixed, "", predicates_to_register},
    {"R2P", integer, Pipe::integer, Latency::fixed, "", register_to_predicates},
    {"POPC", integer, Pipe::special, Latency::special_function, "", count_bits},
    {"UPOPC", integer, Pipe::integer, Latency::fixed, "", count_bits},
};

}  // namespace

const char* name_of(InstructionClass kind) {
  constexpr const char* kNames[] = {"multiply-add", "other float",  "special function",
                                    "global load",  "global store", "shared memory",
                                    "local memory", "constant",     "shuffle",
                                    "barrier",      "branch",       "integer, address, move"};
  static_assert(std::size(kNames) == kInstructionClasses);
  return kNames[static_cast<std::size_t>(kind)];
}

const Operation* find_operation(std::string_view name) {
  static const auto* const table = [] {
    auto* rows = new std::unordered_map<std::string_view, const Operation*>;
    for (const Operation& row : kOperations) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace pushdown::gpu_simulator
