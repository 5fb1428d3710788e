#include "task/chomsky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "support/message.h"
#include "task/binary_numbers.h"
#include "task/transduction.h"

namespace pushdown::chomsky_test {
namespace {

using testing_support::message;

// The texts of the source and the target.
using Texts = std::pair<std::string, std::string>;
std::vector<Texts> texts(const std::string& task, int shortest, int longest, int count,
                         Json options = Json::object()) {
  options["kind"] = task;
  options["lengths"] = {shortest, longest};
  const auto source = make_pairs(options);
  Random random(1, "pairs");
  std::vector<Texts> all;
  for (const Pair& pair : source->draw(count, random)) {
    EXPECT_TRUE(task == "modular_arithmetic" || (static_cast<int>(pair.source.size()) >= shortest &&
                                                 static_cast<int>(pair.source.size()) <= longest));
    Texts text;
    for (const int id : pair.source) text.first += source->source_alphabet().symbol(id) + " ";
    for (const int id : pair.target) text.second += source->target_alphabet().symbol(id) + " ";
    for (std::string* side : {&text.first, &text.second})
      if (!side->empty()) side->pop_back();
    all.push_back(text);
  }
  return all;
}

std::string joined(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Recursive descent over digits + - * ( ) with C's precedence, and a unary minus before a digit.
class Calculator {
 public:
  Calculator(std::string text, int modulus) : text_(std::move(text)), modulus_(modulus) {}
  int value() {
    const int result = sum();
    EXPECT_EQ(at_, text_.size()) << text_;
    return ((result % modulus_) + modulus_) % modulus_;
  }

 private:
  int sum() {
    int total = product();
    while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      const char sign = text_[at_++];
      const int next = product();
      total = (sign == '+' ? total + next : total - next) % modulus_;
    }
    return total;
  }
  int product() {
    int total = factor();
    while (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      total = total * factor() % modulus_;
    }
    return total;
  }
  int factor() {
    if (text_[at_] == '-') return ++at_, -factor();
    if (text_[at_] != '(') return text_[at_++] - '0';
    ++at_;
    const int inner = sum();
    EXPECT_EQ(text_[at_++], ')') << text_;
    return inner;
  }

  std::string text_;
  int modulus_;
  std::size_t at_ = 0;
};

TEST(Chomsky, BinaryNumbersAgainstWholeNumbers) {
  const auto bits = [](unsigned value) {
    Bits result;
    for (; value > 0; value /= 2) result.push_back(value % 2);
    return result;
  };
  for (unsigned a = 0; a < 70; ++a)
    for (unsigned b = 0; b < 70; ++b) {
      EXPECT_EQ(sum_of(bits(a), bits(b)), bits(a + b));
      EXPECT_EQ(product_of(bits(a), bits(b)), bits(a * b));
    }
  unsigned root = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    if ((root + 1) * (root + 1) <= n) ++root;
    EXPECT_EQ(square_root(bits(n)), bits(root)) << n;
  }
  // r^2 <= n < (r + 1)^2 for long numbers.
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    Bits n;
    for (int k = 0; k < 499; ++k) n.push_back(static_cast<std::uint8_t>(random.below(2)));
    n.push_back(1);
    const Bits r = square_root(n), next = sum_of(r, {1});
    const auto less = [](const Bits& a, const Bits& b) {
      return a.size() != b.size()
                 ? a.size() < b.size()
                 : std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    };
    EXPECT_FALSE(less(n, product_of(r, r)));
    EXPECT_TRUE(less(n, product_of(next, next)));
  }
}

TEST(Chomsky, RegularTasks) {
  std::set<std::string> values;
  for (const auto& [source, target] : texts("even_pairs", 1, 12, 200)) {
    // The number of changes is even if both ends are equal.
    const std::string word = joined(source);
    EXPECT_EQ(target, word.front() == word.back() ? "0" : "1") << source;
  }
  for (const auto& [source, target] : texts("parity_check", 1, 12, 200))
    EXPECT_EQ(target, std::count(source.begin(), source.end(), '1') % 2 == 0 ? "0" : "1");
  for (const auto& [source, target] : texts("cycle_navigation", 1, 30, 300)) {
    int place = 1000;
    for (std::size_t at = 0; (at = source.find("left", at)) != source.npos; ++at) --place;
    for (std::size_t at = 0; (at = source.find("right", at)) != source.npos; ++at) ++place;
    EXPECT_EQ(target, std::to_string(place % 5));
    values.insert(target);
  }
  EXPECT_EQ(values.size(), 5u);
  values.clear();
  for (const auto& [source, target] : texts("modular_arithmetic", 1, 20, 500)) {
    EXPECT_EQ(joined(source).size() % 2, 1u);
    EXPECT_EQ(target, std::to_string(Calculator(joined(source), 5).value())) << source;
    values.insert(target);
  }
  EXPECT_EQ(values.size(), 5u);
}

TEST(Chomsky, ContextFreeTasks) {
  for (const bool multiplication : {true, false}) {
    bool product = false;
    for (const auto& [source, target] :
         texts("modular_arithmetic_brackets", 1, 40, 500, {{"multiplication", multiplication}})) {
      EXPECT_EQ(target, std::to_string(Calculator(joined(source), 5).value())) << source;
      product = product || source.find('*') != source.npos;
    }
    EXPECT_EQ(product, multiplication);
  }
  for (const auto& [source, target] : texts("solve_equation", 3, 40, 500)) {
    std::string equation = joined(source);
    const auto equals = equation.find('='), unknown = equation.find('x');
    ASSERT_EQ(equation.size() - equals, 2u);
    equation[unknown] = target[0];
    EXPECT_EQ(Calculator(equation.substr(0, equals), 5).value(), equation.back() - '0') << source;
  }
  for (const auto& [source, target] : texts("solve_equation", 1, 2, 20)) EXPECT_EQ(target, "0");
  for (const auto& [source, target] : texts("compare_occurrence", 1, 9, 200)) {
    const auto ones = std::count(source.begin(), source.end(), '1'),
               zeros = std::count(source.begin(), source.end(), '0');
    EXPECT_EQ(target, ones >= zeros ? "1" : "0");
  }
  for (const auto& [source, target] : texts("reverse_string", 1, 12, 100))
    EXPECT_EQ(target, std::string(source.rbegin(), source.rend()));
  std::set<std::size_t> sizes;
  for (const auto& [source, target] : texts("stack_manipulation", 1, 20, 500)) {
    std::string stack, words = source + " ";
    for (std::size_t at = 0, end; (end = words.find(' ', at)) != words.npos; at = end + 1) {
      const std::string word = words.substr(at, end - at);
      if (word != "pop")
        stack += word.back();
      else if (!stack.empty())
        stack.pop_back();
    }
    EXPECT_EQ(joined(target), std::string(stack.rbegin(), stack.rend())) << source;
    sizes.insert(stack.size());
  }
  EXPECT_TRUE(sizes.contains(0) && sizes.size() > 8);
}

TEST(Chomsky, ContextSensitiveTasks) {
  for (const auto& [source, target] : texts("duplicate_string", 1, 9, 100, {{"symbols", 3}}))
    EXPECT_EQ(target, source + " " + source);
  for (const auto& [source, target] : texts("missing_duplicate_string", 2, 13, 300)) {
    std::string words = source;
    words.replace(words.find("missing"), 7, target);
    std::string word = joined(words);
    if (const auto empty = word.find("empty"); empty != word.npos) {
      EXPECT_EQ(empty, word.size() - 5);
      word.resize(empty);
    }
    EXPECT_EQ(word.substr(0, word.size() / 2), word.substr(word.size() / 2)) << source;
  }
  for (const auto& [source, target] : texts("odds_first", 1, 12, 100)) {
    const std::string word = joined(source);
    std::string second, first;
    for (std::size_t i = 0; i < word.size(); ++i) (i % 2 ? second : first) += word[i];
    EXPECT_EQ(joined(target), second + first);
  }
  const auto number = [](const std::string& digits) {
    long value = 0;
    for (std::size_t i = digits.size(); i-- > 0;) value = 2 * value + (digits[i] - '0');
    return value;
  };
  for (const auto& [task, sign] :
       {std::pair("binary_addition", '+'), {"binary_multiplication", '*'}})
    for (const auto& [source, target] : texts(task, 3, 40, 300)) {
      const std::string word = joined(source), result = joined(target);
      const long a = number(word.substr(0, word.find(sign))),
                 b = number(word.substr(word.find(sign) + 1));
      EXPECT_TRUE(a > 0 && b > 0) << source;
      EXPECT_EQ(number(result), sign == '+' ? a + b : a * b) << source;
      EXPECT_EQ(result.back(), '1');
      EXPECT_LE(result.size(), word.size() - 1);
    }
  for (const auto& [source, target] : texts("binary_addition", 1, 2, 30))
    EXPECT_EQ(number(joined(source)), number(joined(target)));
  for (const auto& [source, target] : texts("compute_sqrt", 1, 40, 300)) {
    const std::string word = joined(source), root = joined(target);
    const long n = number({word.rbegin(), word.rend()}), r = number({root.rbegin(), root.rend()});
    EXPECT_TRUE(r * r <= n && n < (r + 1) * (r + 1)) << source;
    EXPECT_EQ(root.size(), (word.size() + 1) / 2);
  }
  for (const auto& [source, target] : texts("bucket_sort", 1, 30, 100)) {
    std::string sorted = joined(source);
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(joined(target), sorted);
  }
}

TEST(Chomsky, TargetsHaveTheLengthOfTheirSourcesUnlessTheyEnd) {
  EXPECT_EQ(chomsky_tasks().size(), 16u);
  for (const ChomskyTask& task : chomsky_tasks()) {
    std::set<std::size_t> lengths;
    for (const auto& [source, target] : texts(task.name, 9, 9, 200))
      lengths.insert(std::count(target.begin(), target.end(), ' '));
    EXPECT_EQ(lengths.size() > 1, task.ends) << task.name;
  }
}

TEST(Chomsky, WrongOptionsAreRefused) {
  EXPECT_CONTAINS(message([] {
                    make_pairs({{"kind", "parity_check"}, {"lengths", {0, 7}}});
                  }),
                  "1 <= lowest");
  EXPECT_CONTAINS(message([] {
                    make_pairs({{"kind", "parity_check"}, {"modulus", 3}});
                  }),
                  "modulus");
}

}  // namespace
}  // namespace pushdown::chomsky_test
