// The simulator of machine code, with instructions written here and with the compiler's code of a
// small kernel.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>

#include "gpu/simulate/table.h"
#include "gpu/simulator/report.h"
#include "gpu/simulator/simulator.h"
#include "support/message.h"

namespace pushdown::simulator_test {
namespace {

using namespace gpu_simulator;
using testing_support::message;

// An instruction and its control code: a stall count in the lowest bits, then no counters.
struct Line {
  std::string text;
  std::uint64_t control;
  // Releases counter k with its result; waits for the counters of the bits.
  Line releases(unsigned k) const { return {text, (control & ~0xe0ull) | k << 5}; }
  Line waits(unsigned bits) const { return {text, control | std::uint64_t{bits} << 11}; }
  Line(std::string text, std::uint64_t control = 0x1 | 7 << 5 | 7 << 8)
      : text(std::move(text)), control(control) {}
  Line(const char* text) : Line(std::string(text)) {}
};
// A line that ends with ':' is a label.
std::string disassembly_of(const std::vector<Line>& lines) {
  std::string text = "\t.section\t.text.kernel,\"ax\",@progbits\nkernel:\n";
  unsigned address = 0;
  for (const Line& line : lines) {
    if (line.text.ends_with(':')) {
      text += line.text + "\n";
      continue;
    }
    text += fmt::format("        /*{:04x}*/  {} ;  /* 0x0 */\n   /* {:#x} */\n", address, line.text,
                        line.control << 41);
    address += 16;
  }
  return text;
}

// Runs the lines and then stores R0 of each thread.
std::vector<std::uint32_t> results_of(std::vector<Line> lines, Launch launch = {},
                                      Statistics* statistics = nullptr) {
  const unsigned threads = launch.threads[0];
  std::vector<std::uint32_t> out(threads * launch.grid[0], 0);
  const std::vector<Line> end = {"S2R R60, SR_TID.X",
                                 "S2R R61, SR_CTAID.X",
                                 fmt::format("IMAD R60, R61, {:#x}, R60", threads),
                                 "LDC.64 R62, c[0x0][0x210]",
                                 "IMAD.WIDE.U32 R62, R60, 0x4, R62",
                                 "STG.E desc[UR4][R62.64], R0",
                                 "EXIT"};
  lines.insert(lines.end(), end.begin(), end.end());
  Launch own = launch;
  own.parameters.clear();
  own.add_parameter(out.data());
  for (const std::uint8_t byte : launch.parameters) own.parameters.push_back(byte);
  const Module module(disassembly_of(lines));
  GlobalMemory memory;
  memory.permit(out.data(), out.size() * 4);
  const Statistics done = run(module.kernel("kernel"), own, {}, memory);
  if (statistics != nullptr) *statistics = done;
  return out;
}
std::uint32_t result_of(const std::vector<Line>& lines) { return results_of(lines)[7]; }
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

// R2:R1 = a, R4:R3 = b.
std::vector<Line> with_wide(std::uint64_t a, std::uint64_t b, std::vector<Line> lines) {
  const auto move = [](int to, std::uint64_t number) {
    return fmt::format("MOV R{}, {:#x}", to, static_cast<std::uint32_t>(number));
  };
  std::vector<Line> all = {move(1, a), move(2, a >> 32), move(3, b), move(4, b >> 32)};
  all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

constexpr std::uint64_t kWide[] = {
    0, 1, 0x7fffffff, 0xffffffff, 0x100000000, 0xfedcba98, 1ull << 63, ~0ull, 0x123456789abcdef};

TEST(Simulator, WideIntegers) {
  for (const std::uint64_t a : kWide)
    for (const std::uint64_t b : kWide) {
      const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
      const auto result = [&](std::vector<Line> lines) {
        return result_of(with_wide(a, b, std::move(lines)));
      };
      EXPECT_EQ(result({"IADD3 R5, P0, R1, R3, RZ", "IADD3.X R0, R2, R4, RZ, P0, !PT"}),
                high(a + b));
      EXPECT_EQ(result({"IADD3 R5, P0, R1, -R3, RZ", "IADD3.X R0, R2, ~R4, RZ, P0, !PT"}),
                high(a - b));
      EXPECT_EQ(result({"IADD3 R5, P0, R1, R3, RZ", "IMAD.X R0, R2, 0x1, R4, P0"}), high(a + b));
      EXPECT_EQ(result({"IADD3 R5, P0, P1, R1, R3, R1", "IADD3.X R0, R2, R4, R2, P0, P1"}),
                high(a + b + a));
      EXPECT_EQ(result({"LEA R5, P0, R1, R3, 0x3", "LEA.HI.X R0, R1, R4, R2, 0x3, P0"}),
                high((a << 3) + b));
      const auto extended = static_cast<std::uint64_t>(static_cast<std::int32_t>(a));
      EXPECT_EQ(result({"LEA R5, P0, R1, R3, 0x2", "LEA.HI.X.SX32 R0, R1, R4, 0x2, P0"}),
                high((extended << 2) + b));
      EXPECT_EQ(result({"IMAD.WIDE R6, R1, R3, R2", "MOV R0, R7"}),
                high(extended * static_cast<std::uint64_t>(static_cast<std::int32_t>(b)) +
                     ((a >> 32) | (b & 0xffffffff) << 32)));
      EXPECT_EQ(result({"IMAD.HI.U32 R0, R1, R3, RZ"}), high((a & 0xffffffff) * (b & 0xffffffff)));
      EXPECT_EQ(result({"SHF.L.U64.HI R0, R1, 0x5, R2"}), high(a << 5));
      EXPECT_EQ(result({"SHF.R.S64 R0, R1, 0x21, R2"}),
                static_cast<std::uint32_t>(static_cast<std::int64_t>(a) >> 33));
      EXPECT_EQ(result({"SHF.R.S32.HI R0, RZ, 0x1f, R1"}), high(extended));
      EXPECT_EQ(result({"ISETP.GT.U32.AND P0, PT, R1, R3, PT",
                        "ISETP.GT.AND.EX P0, PT, R2, R4, PT, P0", "SEL R0, RZ, 0x1, !P0"}),
                static_cast<std::int64_t>(a) > static_cast<std::int64_t>(b));
      EXPECT_EQ(result({"ISETP.NE.U32.AND P0, PT, R1, R3, PT",
                        "ISETP.NE.AND.EX P0, PT, R2, R4, PT, P0", "SEL R0, RZ, 0x1, !P0"}),
                a != b);
      EXPECT_EQ(result({"LOP3.LUT R0, R1, R3, R2, 0xb8, !PT"}),
                static_cast<std::uint32_t>((a & ~b) | (b & (a >> 32))));
      EXPECT_EQ(result({"VIMNMX R0, R1, R3, PT"}),
                static_cast<std::uint32_t>(
                    std::min(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b))));
    }
}

TEST(Simulator, Floats) {
  const std::string one = fmt::format("MOV R1, {:#x}", bits(1.0f));
  const std::string nan = "MOV R2, 0x7fffffff";
  EXPECT_EQ(result_of({one, "FADD R0, R1, -2.5"}), bits(-1.5f));
  EXPECT_EQ(result_of({one, "FFMA.SAT R0, R1, 4, R1"}), bits(1.0f));
  EXPECT_EQ(result_of({one, nan, "FMNMX R0, R1, R2, PT"}), bits(1.0f));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(result_of({one, nan, "FMNMX.NAN R0, R1, R2, PT"}))));
  // 1 + 2^-30, rounded down and up.
  const std::string tiny = fmt::format("MOV R3, {:#x}", bits(std::ldexp(1.0f, -30)));
  EXPECT_EQ(result_of({one, tiny, "FFMA.RM R0, R3, R1, R1"}), bits(1.0f));
  EXPECT_EQ(result_of({one, tiny, "FFMA.RP R0, R3, R1, R1"}), bits(1.0f) + 1);
  EXPECT_EQ(result_of({one, nan, "FSETP.GEU.AND P0, PT, R1, R2, PT", "SEL R0, RZ, 0x1, !P0"}), 1u);
  EXPECT_EQ(result_of({one, nan, "FSETP.GE.AND P0, PT, R1, R2, PT", "SEL R0, RZ, 0x1, !P0"}), 0u);
  EXPECT_EQ(result_of({"HFMA2.MMA R0, -RZ, RZ, 1.875, -5.9604644775390625e-08"}), 0x3f808001u);
  EXPECT_EQ(result_of({fmt::format("MOV R1, {:#x}", bits(-2.7f)), "F2I.TRUNC.NTZ R0, R1"}),
            ~0u - 1);
  EXPECT_EQ(result_of({fmt::format("MOV R1, {:#x}", bits(3e9f)), "F2I.FTZ.U32.TRUNC.NTZ R0, R1"}),
            3000000000u);
  EXPECT_EQ(result_of({"MOV R1, 0x1000001", "I2F.U32.RP R0, R1"}), bits(16777218.0f));
  EXPECT_EQ(result_of({"MOV R1, 0x11223344", "MOV R2, 0x55667788", "PRMT R0, R1, 0x7610, R2"}),
            0x55663344u);
}

// Lanes take different numbers of turns of a loop and meet behind it.
TEST(Simulator, Divergence) {
  Statistics statistics;
  Launch launch;
  launch.threads = {64, 1, 1};
  const auto out =
      results_of({"S2R R1, SR_TID.X", "MOV R0, RZ", "BSSY B0, `(.L_after)",
                  ".L_loop:", "ISETP.GT.U32.AND P0, PT, R0, R1, PT", "@P0 BRA `(.L_after)",
                  "VIADD R0, R0, 0x1", "BRA `(.L_loop)", ".L_after:", "BSYNC B0",
                  "SHFL.BFLY PT, R2, R0, 0x1f, 0x1f", "IMAD R0, R2, 0x64, R0"},
                 launch, &statistics);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned other = i ^ 31;
    EXPECT_EQ(out[i], (other + 1) * 100 + i + 1) << i;
  }
  EXPECT_EQ(statistics.divided, 2u * 31);
  // A warp leaves the loop lane by lane, and runs the rest once.
  EXPECT_EQ(statistics.executed[static_cast<std::size_t>(InstructionClass::shuffle)], 2u);
}

// A thread reads what a thread of another warp wrote before the barrier.
TEST(Simulator, SharedMemoryAndBarriers) {
  Launch launch;
  launch.grid = {3, 1, 1};
  launch.threads = {64, 1, 1};
  launch.shared_bytes = 256;
  launch.together = 2;
  const std::vector<Line> lines = {"S2R R1, SR_TID.X",
                                   "S2R R2, SR_CTAID.X",
                                   "IMAD R2, R2, 0x64, R1",
                                   "UMOV UR4, 0x400",
                                   "LEA R3, R1, UR4, 0x2",
                                   "ISETP.GT.U32.AND P0, PT, R1, 0x1f, PT",
                                   "@P0 BRA `(.L_write)",
                                   Line("NOP", 0xf | 7 << 5 | 7 << 8),  // the first warp is late
                                   Line("NOP", 0xf | 7 << 5 | 7 << 8),
                                   ".L_write:",
                                   "STS [R3], R2",
                                   "BAR.SYNC.DEFER_BLOCKING 0x0",
                                   "IADD3 R4, -R1, 0x3f, RZ",
                                   "LEA R4, R4, UR4, 0x2",
                                   "LDS R0, [R4]"};
  const auto out = results_of(lines, launch);
  for (unsigned block = 0; block < 3; ++block)
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[block * 64 + i], block * 100 + 63 - i);
  // Without the barrier, numbers are not there yet.
  std::vector<Line> wrong = lines;
  wrong.erase(wrong.begin() + 11);
  EXPECT_NE(results_of(wrong, launch), out);
}

TEST(Simulator, Errors) {
  const auto error = [](const std::vector<Line>& lines, Launch launch = {}) {
    return message([&] { results_of(lines, launch); });
  };
  EXPECT_CONTAINS(error({"HMMA R0, R1, R2, R3"}),
                  "line 3: unknown instruction 'HMMA R0, R1, R2, R3'");
  EXPECT_CONTAINS(error({"NOP", "IADD3.SAT R0, R1, R2, R3"}),
                  "line 5: unknown modifier 'SAT' of 'IADD3.SAT R0, R1, R2, R3'");
  EXPECT_CONTAINS(error({"MOV R0, Q1"}), "unknown operand 'Q1'");
  EXPECT_CONTAINS(error({"BRA `(.L_nowhere)"}), "unknown label '.L_nowhere'");
  EXPECT_CONTAINS(
      error({"MOV R2, 0x2000", "MOV R3, RZ", "LDG.E R0, desc[UR4][R2.64]"}),
      "4 bytes at 0x2000 are not in global memory in 'LDG.E R0, desc[UR4][R2.64]' (line 7");
  EXPECT_CONTAINS(error({"MOV R2, 0x400", "LDS R0, [R2]"}), "are not in the 1024 bytes of shared");
  EXPECT_CONTAINS(error({"LDC R0, c[0x0][0x100]"}), "constant 0x100 does not exist");
  EXPECT_CONTAINS(error({"S2R R1, SR_TID.X", "ISETP.GT.U32.AND P0, PT, R1, 0x7, PT",
                         "@P0 SHFL.BFLY PT, R0, R1, 0x8, 0x1f"}),
                  "reads from lane 0, which does not take part");
  // Half of a warp waits for the block and the other for this half.
  EXPECT_CONTAINS(
      error({"S2R R1, SR_TID.X", "ISETP.GT.U32.AND P0, PT, R1, 0xf, PT", "BSSY B0, `(.L_1)",
             "@P0 BRA `(.L_1)", "BAR.SYNC.DEFER_BLOCKING 0x0", ".L_1:", "BSYNC B0"}),
      "all threads wait for others");
}

std::uint64_t cycles_of(const std::vector<Line>& lines, Launch launch = {}) {
  Statistics statistics;
  results_of(lines, launch, &statistics);
  return statistics.cycles;
}

// Cycles of instructions that are added to a program.
std::uint64_t cycles_of_more(const std::vector<Line>& lines, const std::vector<Line>& more,
                             Launch launch = {}) {
  std::vector<Line> all = lines;
  all.insert(all.end(), more.begin(), more.end());
  return cycles_of(all, launch) - cycles_of(lines, launch);
}

TEST(Simulator, Times) {
  const TimingModel model;
  const Line slow("MOV R1, RZ", 0xf | 7 << 5 | 7 << 8);  // stall 15
  EXPECT_EQ(cycles_of_more({}, {slow, slow}), 30u);
  // A counter makes the second instruction wait for the result of the first.
  const Line function = Line("MUFU.RCP R1, R2").releases(0);
  EXPECT_EQ(cycles_of_more({}, {function, Line("MOV R0, R1").waits(1)}),
            model.special_function + 1);
  EXPECT_EQ(cycles_of_more({}, {function, Line("MOV R0, R3")}), 2u);
  // 32 words of one bank take 31 cycles more than 32 banks.
  Launch launch;
  launch.shared_bytes = 4096;
  const auto loads = [&](const char* scale) {
    return cycles_of_more({"S2R R1, SR_TID.X", "UMOV UR4, 0x400", "NOP"},
                          {fmt::format("LEA R3, R1, UR4, {}", scale),
                           Line("LDS R2, [R3]").releases(0), Line("MOV R0, R2").waits(1)},
                          launch);
  };
  EXPECT_EQ(loads("0x2"), model.shared + 2);
  EXPECT_EQ(loads("0x7"), model.shared + 31 + 2);
  // Two warps of one scheduler share its pipe for integers, which takes one every other cycle.
  Launch warps;
  warps.threads = {8 * 32, 1, 1};
  const std::vector<Line> integers(100, "VIADD R1, R1, 0x1");
  EXPECT_NEAR(static_cast<double>(cycles_of_more({}, integers)), 200, 4);
  EXPECT_NEAR(static_cast<double>(cycles_of_more({}, integers, warps)), 400, 8);
}

// The kernel that examples/mixed.cu shows, in the compiler's code.
TEST(Simulator, CodeOfTheCompiler) {
  std::ifstream file(PUSHDOWN_GPU_TESTS "/examples/mixed.sass");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Module module(text);
  std::vector<float> in(80), out(128, NAN);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = i % 7 == 3 ? 2e-38f : std::sin(static_cast<float>(i)) + 2;
  Launch launch;
  launch.grid = {2, 1, 1};
  launch.threads = {64, 1, 1};
  launch.shared_bytes = 256;
  launch.add_parameter(out.data());
  launch.add_parameter(static_cast<const float*>(in.data()));
  launch.add_parameter(3);
  const Statistics done = run(module.kernel("mixed"), launch);
  std::vector<float> sums(64);
  for (int i = 0; i < 64; ++i) {
    const auto at = [&](int k) { return in[static_cast<std::size_t>(k)]; };
    float sum = at(63 - i);
    for (int k = 0; k < i % 5 + 3; ++k) sum += k % 2 == 1 ? at(k) * at(k) : 1 / at(i + k);
    sums[static_cast<std::size_t>(i)] = i % 3 == 0 ? -sum : sum;
  }
  for (std::size_t i = 0; i < 128; ++i) {
    const float wanted = sums[i % 64] + sums[i % 64 ^ 1];
    EXPECT_NEAR(out[i], wanted, 2e-6f * std::fabs(wanted)) << i;
  }
  EXPECT_EQ(done.blocks, 2u);
  EXPECT_EQ(done.executed[static_cast<std::size_t>(InstructionClass::barrier)], 4u);
  EXPECT_EQ(done.generic_shared, 0u);
  EXPECT_EQ(std::accumulate(done.executed.begin(), done.executed.end(), std::uint64_t{0}),
            done.instructions);
  // The loop has most instructions.
  const std::string lines = report_lines(module.kernel("mixed"), done, 1, "mixed.cu", 1);
  EXPECT_CONTAINS(lines, "mixed.cu:10 ");
  EXPECT_CONTAINS(report_classes(done, 1), "multiply-add");
}

// What `simulate check` reports.
TEST(Simulator, CostsThatGrow) {
  using namespace gpu_simulate;
  CostTable recorded = read_table(PUSHDOWN_GPU_TESTS "/instructions.txt");
  EXPECT_FALSE(recorded.compiler.empty());
  const std::string spilling = "3x3 step_backward", lean = "2x2 step_forward";
  ASSERT_EQ(recorded.costs.count(spilling), 1u);
  recorded.costs[spilling].spilled_bytes = 472;  // as registers that do not suffice would
  ASSERT_EQ(recorded.costs.count(lean), 1u);
  EXPECT_TRUE(growth(recorded, recorded).empty());
  const auto worse = [&](const std::string& name, const auto& change) {
    CostTable now = recorded;
    change(now.costs[name]);
    const auto lines = growth(recorded, now);
    return lines.size() == 1 ? lines[0] : std::to_string(lines.size());
  };
  EXPECT_EQ(worse(lean, [](KernelCosts& costs) { costs.instructions *= 1.02; }), "0");
  EXPECT_EQ(worse(lean, [](KernelCosts& costs) { costs.instructions *= 0.5; }), "0");
  EXPECT_CONTAINS(worse(lean, [](KernelCosts& costs) { costs.instructions *= 1.04; }),
                  "2x2 step_forward: instructions");
  EXPECT_CONTAINS(worse(lean, [](KernelCosts& costs) { costs.generic_shared += 1; }), "generic");
  EXPECT_CONTAINS(worse(lean, [](KernelCosts& costs) { costs.registers += 8; }), "registers");
  EXPECT_EQ(worse(lean, [](KernelCosts& costs) { costs.spilled_bytes = 128; }), "0");
  EXPECT_CONTAINS(worse(lean, [](KernelCosts& costs) { costs.spilled_bytes = 132; }), "spilled");
  EXPECT_CONTAINS(worse(spilling, [](KernelCosts& costs) { costs.spilled_bytes += 4; }), "spilled");
  CostTable fewer = recorded;
  fewer.costs.erase(lean);
  EXPECT_EQ(growth(recorded, fewer), std::vector<std::string>{lean + ": only in the table"});
  EXPECT_EQ(growth(fewer, recorded), std::vector<std::string>{lean + ": not in the table"});
}

}  // namespace
}  // namespace pushdown::simulator_test
