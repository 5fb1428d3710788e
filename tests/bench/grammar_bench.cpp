// Sampling and scoring with the five grammars of DuSell and Chiang (2020), appendix B.
#include <chrono>
#include <cstdio>
#include <map>

#include "bench.h"
#include "grammar/inside.h"
#include "grammar/sampler.h"
#include "grammar/text.h"

namespace {

using namespace pushdown;

const std::map<std::string, std::string> kGrammars = {
    {"marked_reversal", "S -> '0' S '0' [30] | '1' S '1' [30] | '#' [1]"},
    {"unmarked_reversal", "S -> '0' S '0' [30] | '1' S '1' [30] | [1]"},
    {"padded_reversal",
     "S -> '0' S '0' [60] | '1' S '1' [60] | T0 [1] | T1 [1]\n"
     "T0 -> '0' T0 [30] | [1]\nT1 -> '1' T1 [30] | [1]"},
    {"dyck",
     "S -> S T [1] | T [1]\n"
     "T -> '(' S ')' [40] | '[' S ']' [40] | '(' ')' [1] | '[' ']' [1]"},
    {"hardest_cfl",
     "S' -> R '$' Q S L ';'\n"
     "L -> L' ',' U\nL' -> ',' V L' [1] | [2]\nR -> U ',' R'\nR' -> R' V ',' [1] | [2]\n"
     "U -> W U [1] | [2]\nV -> W V [1] | W [1]\nW -> '(' | ')' | '[' | ']' | '$'\n"
     "Q -> L ';' R [1] | [3]\nS -> S Q T [3] | T [2]\n"
     "T -> '(' Q S Q ')' [3] | '[' Q S Q ']' [3] | '(' Q ')' [1] | '[' Q ']' [1]"},
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void bench_grammar() {
  for (const auto& [name, text] : kGrammars) {
    const Grammar grammar(parse_grammar(text));
    // The time includes making the tables.
    const double seconds =
        seconds_of([&] { Sampler(grammar, 40, 80).sample_batches(10000, 10, 1); });
    std::printf("sample grammar=%s strings=10000 lengths=40-80 seconds=%.3f\n", name.c_str(),
                seconds);
  }
  for (const auto& [name, text] : kGrammars) {
    const Grammar grammar(parse_grammar(text));
    const int n = LengthTable(grammar, 81).has_strings(80) ? 80 : 81;
    const Sampler sampler(grammar, n, n);
    Random random(1);
    const auto word = sampler.sample(random);
    const double median =
        bench::measure(51, [&] { (void)log_probability(grammar, word); }).median_ms;
    std::printf("inside grammar=%s n=%d median_ms=%.3f\n", name.c_str(), n, median);
  }
}
