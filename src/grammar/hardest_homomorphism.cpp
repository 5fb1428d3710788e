#include "grammar/hardest_homomorphism.h"

#include <algorithm>
#include <numeric>

#include "grammar/greibach.h"

namespace pushdown {
namespace {

using Symbols = std::vector<std::string>;

void append(Symbols& symbols, const char* outer, const char* inner, int count) {
  symbols.emplace_back(outer);
  symbols.insert(symbols.end(), count, inner);
  symbols.emplace_back(outer);
}

// Returns numbers from 1 for all nonterminals except the start symbol, the smallest for the most
// frequent.
std::vector<int> numbered(const GreibachForm& form) {
  std::vector<int> uses(form.names.size()), order(form.names.size()), numbers(form.names.size());
  for (const auto& rule : form.rules) {
    ++uses[rule.left];
    for (const int id : rule.rest) ++uses[id];
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return uses[a] > uses[b]; });
  int number = 0;
  for (const int id : order)
    if (id != form.start) numbers[id] = ++number;
  return numbers;
}

}  // namespace

std::vector<Symbols> hardest_homomorphism(const Grammar& grammar) {
  const auto form = greibach_form(grammar);
  const auto number = numbered(form);
  std::vector<Symbols> images(grammar.alphabet().size());
  for (const auto& rule : form.rules) {
    auto& image = images[rule.terminal];
    image.emplace_back(",");
    if (rule.left == form.start)
      image.emplace_back("$");
    else
      append(image, ")", "]", number[rule.left]);
    for (auto next = rule.rest.rbegin(); next != rule.rest.rend(); ++next)
      append(image, "(", "[", number[*next]);
  }
  for (auto& image : images) {
    if (!image.empty()) image.emplace_back(",");
    image.emplace_back(";");
  }
  return images;
}

}  // namespace pushdown
