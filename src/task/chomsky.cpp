#include "task/chomsky.h"

#include <algorithm>

#include "base/check.h"
#include "task/binary_numbers.h"

namespace pushdown {
namespace {

int draw_below(Random& random, std::int64_t count) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(count)));
}

Word draw_word(Random& random, int length, int symbols) {
  Word word(length);
  for (int& symbol : word) symbol = draw_below(random, symbols);
  return word;
}

// Draws a pair of a task. `size` is the task's option, a modulus or a number of symbols; 0 without
// one.
using DrawPair = Pair (*)(int length, int size, bool multiplication, Random& random);
// Computes the target of a source of uniform symbols.
using Compute = Word (*)(const Word& source);

// ---- Regular ----

Word even_pairs(const Word& word) {
  int unequal = 0;
  for (std::size_t i = 1; i < word.size(); ++i) unequal += word[i] != word[i - 1];
  return {unequal % 2};
}

Word parity_check(const Word& word) {
  return {static_cast<int>(std::count(word.begin(), word.end(), 1)) % 2};
}

constexpr int kCycle = 5;

// left, stay, right
Word cycle_navigation(const Word& word) {
  int place = 0;
  for (const int step : word) place += step - 1;
  return {((place % kCycle) + kCycle) % kCycle};
}

// The digits 0 .. m - 1 are followed by + - * ( ) x =.
enum Sign { plus, minus, times, open, close, unknown, equals };

// Products bind more tightly than sums; sums are evaluated from left to right.
Pair modular_arithmetic(int length, int modulus, bool, Random& random) {
  length -= length % 2 == 0;
  Word word;
  int sum = 0, product = 0, sign = 1;
  for (int i = 0; i < length; ++i) {
    if (i % 2 == 1) {
      word.push_back(modulus + draw_below(random, 3));
      continue;
    }
    const int digit = draw_below(random, modulus);
    const int before = i == 0 ? plus : word.back() - modulus;
    if (before == times) {
      product = product * digit % modulus;
    } else {
      sum += sign * product;
      sign = before == minus ? -1 : 1;
      product = digit;
    }
    word.push_back(digit);
  }
  sum = (sum + sign * product) % modulus;
  return {word, {(sum + modulus) % modulus}};
}

// ---- Context-free ----

// Appends an expression of this length to the word and returns its value.
int draw_expression(int length, int modulus, bool multiplication, Random& random, Word& word) {
  const auto sign = [&](Sign which) { word.push_back(modulus + which); };
  if (length <= 4) {
    const bool brackets = length >= 3, negative = length % 2 == 0;
    const int digit = draw_below(random, modulus);
    if (brackets) sign(open);
    if (negative) sign(minus);
    word.push_back(digit);
    if (brackets) sign(close);
    return negative ? (modulus - digit) % modulus : digit;
  }
  const int left = 1 + draw_below(random, length - 4);
  const Sign operation = static_cast<Sign>(draw_below(random, multiplication ? 3 : 2));
  sign(open);
  const int a = draw_expression(left, modulus, multiplication, random, word);
  sign(operation);
  const int b = draw_expression(length - left - 3, modulus, multiplication, random, word);
  sign(close);
  if (operation == times) return a * b % modulus;
  return (operation == plus ? a + b : a - b + modulus) % modulus;
}

Pair modular_arithmetic_brackets(int length, int modulus, bool multiplication, Random& random) {
  Pair pair;
  pair.target = {draw_expression(length, modulus, multiplication, random, pair.source)};
  return pair;
}

// The paper's program gives strings of zeros if there is no equation.
Pair solve_equation(int length, int modulus, bool, Random& random) {
  if (length < 3) return {Word(length, 0), {0}};
  Pair pair;
  const int value = draw_expression(length - 2, modulus, false, random, pair.source);
  auto place = static_cast<std::size_t>(draw_below(random, length - 2));
  while (pair.source[place] >= modulus) place = (place + 1) % pair.source.size();
  pair.target = {std::exchange(pair.source[place], modulus + unknown)};
  pair.source.push_back(modulus + equals);
  pair.source.push_back(value);
  return pair;
}

// Equal counts of ones and zeros count as more ones.
Word compare_occurrence(const Word& word) {
  return {2 * std::count(word.begin(), word.end(), 1) >= std::ssize(word) ? 1 : 0};
}

Word reverse_string(const Word& word) { return {word.rbegin(), word.rend()}; }

// 0, 1, pop, push_0, push_1. The input stack starts at its bottom, the target at its top.
Pair stack_manipulation(int length, int, bool, Random& random) {
  if (length == 1) {
    const Word word = draw_word(random, 1, 2);
    return {word, word};
  }
  const int height = 1 + draw_below(random, length - 1);
  Word word = draw_word(random, height, 2), stack = word;
  for (int i = height; i < length; ++i) {
    const int action = 2 + draw_below(random, 3);
    word.push_back(action);
    if (action > 2)
      stack.push_back(action - 3);
    else if (!stack.empty())
      stack.pop_back();
  }
  return {word, Word(stack.rbegin(), stack.rend())};
}

// ---- Context-sensitive ----

Word duplicate_string(const Word& word) {
  Word twice = word;
  twice.insert(twice.end(), word.begin(), word.end());
  return twice;
}

// 0, 1, missing, empty. A source of length 1 has no halves and is always 1 -> 1.
Pair missing_duplicate_string(int length, int, bool, Random& random) {
  if (length == 1) return {{1}, {1}};
  const Word half = draw_word(random, length / 2, 2);
  Word word = half;
  word.insert(word.end(), half.begin(), half.end());
  const auto place = static_cast<std::size_t>(draw_below(random, 2 * (length / 2)));
  const int missing = std::exchange(word[place], 2);
  if (length % 2 == 1) word.push_back(3);
  return {word, {missing}};
}

// As in the paper's program: the second, fourth, ... symbol, then the first, third, ...
Word odds_first(const Word& word) {
  Word result;
  for (const std::size_t first : {1, 0})
    for (std::size_t i = first; i < word.size(); i += 2) result.push_back(word[i]);
  return result;
}

Word word_of(const Bits& bits) { return {bits.begin(), bits.end()}; }
Bits draw_positive(Random& random, int length) {
  for (;;) {
    const Word drawn = draw_word(random, length, 2);
    if (std::find(drawn.begin(), drawn.end(), 1) != drawn.end())
      return {drawn.begin(), drawn.end()};
  }
}

// 0, 1 and the operation; numbers start at the lowest digit. `compute` takes both numbers.
Pair draw_operation(int length, Random& random, Bits (*compute)(const Bits&, const Bits&)) {
  const int first = 1 + draw_below(random, length - 2);
  const Bits a = draw_positive(random, first), b = draw_positive(random, length - 1 - first);
  Word word = word_of(a);
  word.push_back(2);
  word.insert(word.end(), b.begin(), b.end());
  Bits x = a, y = b;
  drop_zeros(x);
  drop_zeros(y);
  return {word, word_of(compute(x, y))};
}

// Draws one of the numbers 0 .. 2^length - 2 if there is no room for two.
Word draw_small(int length, Random& random) {
  const int number = draw_below(random, (1 << length) - 1);
  Word word;
  for (int i = 0; i < length; ++i) word.push_back((number >> i) & 1);
  return word;
}

Pair binary_addition(int length, int, bool, Random& random) {
  if (length > 2) return draw_operation(length, random, sum_of);
  const Word word = draw_small(length, random);
  Word result = word;
  while (result.size() > 1 && result.back() == 0) result.pop_back();
  return {word, result};
}

Pair binary_multiplication(int length, int, bool, Random& random) {
  if (length > 2) return draw_operation(length, random, product_of);
  return {draw_small(length, random), Word(length - 1, 0)};
}

// Numbers start at the highest digit; the root has half as many digits, rounded up.
Pair compute_sqrt(int length, int, bool, Random& random) {
  Bits number = draw_positive(random, length);
  const Word word(number.rbegin(), number.rend());
  drop_zeros(number);
  Bits root = square_root(number);
  root.resize((length + 1) / 2, 0);
  return {word, Word(root.rbegin(), root.rend())};
}

Word bucket_sort(const Word& word) {
  Word sorted = word;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// ---- All of them ----

enum class Size { none, symbols, modulus };

struct ChomskyRow {
  ChomskyTask task;
  const char* doc;
  DrawPair draw = nullptr;
  Compute compute = nullptr;  // instead of `draw`
  Size size = Size::none;
  int size_default = 0;
  std::vector<std::string> source = {}, target = {};  // after the digits given by `size`
};

const std::vector<ChomskyRow>& chomsky_rows() {
  const std::vector<std::string> bits{"0", "1"};
  static const std::vector<ChomskyRow> rows{
      {.task = {"even_pairs", "regular"},
       .doc = "whether the total number of 01 and 10 is even (0) or odd (1)",
       .compute = even_pairs,
       .source = bits,
       .target = bits},
      {.task = {"parity_check", "regular"},
       .doc = "whether the number of ones is even (0) or odd (1)",
       .compute = parity_check,
       .source = bits,
       .target = bits},
      {.task = {"cycle_navigation", "regular"},
       .doc = "the position on a cycle of 5 after steps to the left and to the right",
       .compute = cycle_navigation,
       .source = {"left", "stay", "right"},
       .target = {"0", "1", "2", "3", "4"}},
      {.task = {"modular_arithmetic", "regular"},
       .doc = "the value of sums, differences and products modulo m, without brackets",
       .draw = modular_arithmetic,
       .size = Size::modulus,
       .size_default = 5,
       .source = {"+", "-", "*"}},
      {.task = {"modular_arithmetic_brackets", "context-free"},
       .doc = "the value of an expression modulo m, with brackets",
       .draw = modular_arithmetic_brackets,
       .size = Size::modulus,
       .size_default = 5,
       .source = {"+", "-", "*", "(", ")"}},
      {.task = {"solve_equation", "context-free"},
       .doc = "the unknown digit of an equation of sums and differences modulo m",
       .draw = solve_equation,
       .size = Size::modulus,
       .size_default = 5,
       .source = {"+", "-", "*", "(", ")", "x", "="}},
      {.task = {"compare_occurrence", "context-free"},
       .doc = "whether there are at least as many ones as zeros (1) or not (0)",
       .compute = compare_occurrence,
       .source = bits,
       .target = bits},
      {.task = {"reverse_string", "context-free"},
       .doc = "the reversed string",
       .compute = reverse_string,
       .size = Size::symbols,
       .size_default = 2},
      {.task = {"stack_manipulation", "context-free", true},
       .doc = "the stack (top first) after a sequence of actions on a given stack (bottom first)",
       .draw = stack_manipulation,
       .source = {"0", "1", "pop", "push_0", "push_1"},
       .target = bits},
      {.task = {"duplicate_string", "context-sensitive"},
       .doc = "the string twice",
       .compute = duplicate_string,
       .size = Size::symbols,
       .size_default = 2},
      {.task = {"missing_duplicate_string", "context-sensitive"},
       .doc = "the missing symbol of a string that occurs twice",
       .draw = missing_duplicate_string,
       .source = {"0", "1", "missing", "empty"},
       .target = bits},
      {.task = {"odds_first", "context-sensitive"},
       .doc = "every second symbol, then the others",
       .compute = odds_first,
       .size = Size::symbols,
       .size_default = 2},
      {.task = {"binary_addition", "context-sensitive", true},
       .doc = "the sum of two binary numbers, least significant digits first",
       .draw = binary_addition,
       .source = {"0", "1", "+"},
       .target = bits},
      {.task = {"binary_multiplication", "context-sensitive", true},
       .doc = "the product of two binary numbers, least significant digits first",
       .draw = binary_multiplication,
       .source = {"0", "1", "*"},
       .target = bits},
      {.task = {"compute_sqrt", "context-sensitive"},
       .doc = "the square root of a binary number, rounded down, most significant digits first",
       .draw = compute_sqrt,
       .source = bits,
       .target = bits},
      {.task = {"bucket_sort", "context-sensitive"},
       .doc = "the sorted symbols",
       .compute = bucket_sort,
       .size = Size::symbols,
       .size_default = 5}};
  return rows;
}

Alphabet with_digits(std::int64_t digits, const std::vector<std::string>& others) {
  std::vector<std::string> symbols;
  for (std::int64_t i = 0; i < digits; ++i) symbols.push_back(std::to_string(i));
  symbols.insert(symbols.end(), others.begin(), others.end());
  return Alphabet(std::move(symbols));
}

PairKind chomsky_kind(const ChomskyRow& row) {
  std::vector<OptionSpec> options{
      list_option("lengths", Json::array({1, 40}),
                  "{lowest, highest} length of the source, drawn uniformly"),
      one_length_option()};
  if (row.size == Size::symbols)
    options.push_back(
        integer_option("symbols", row.size_default, "number of symbols", 1).between(1, 1'000'000));
  if (row.size == Size::modulus)
    options.push_back(integer_option("modulus", row.size_default, "digits are 0 to modulus - 1", 2)
                          .between(2, 10'000));
  if (row.draw == modular_arithmetic_brackets)
    options.push_back(boolean_option("multiplication", true, "include products"));
  return generated_pairs(
      row.task.name, fmt::format("{} ({})", row.doc, row.task.level), options,
      [&row](const Json& given) {
        const int size = given.value("modulus", given.value("symbols", 0));
        Alphabet source = with_digits(size, row.source);
        const auto draw = [&row, size, multiplication = given.value("multiplication", false),
                           symbols = source.size()](int length, Random& random) {
          if (row.draw != nullptr) return row.draw(length, size, multiplication, random);
          Word word = draw_word(random, length, symbols);
          Word target = row.compute(word);
          return Pair{std::move(word), std::move(target)};
        };
        return PairGenerator{std::move(source), with_digits(size, row.target), draw};
      });
}

}  // namespace

const std::vector<ChomskyTask>& chomsky_tasks() {
  static const std::vector<ChomskyTask> tasks = [] {
    std::vector<ChomskyTask> all;
    for (const ChomskyRow& row : chomsky_rows()) all.push_back(row.task);
    return all;
  }();
  return tasks;
}

std::vector<PairKind> chomsky_pairs() {
  std::vector<PairKind> all;
  for (const ChomskyRow& row : chomsky_rows()) all.push_back(chomsky_kind(row));
  return all;
}

}  // namespace pushdown
