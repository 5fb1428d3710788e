#include "task/pair_list.h"

#include "grammar/line_reader.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.pairs";
constexpr std::string_view kBar = "|||";

NamedPair read_pair(const std::vector<std::string_view>& symbols, std::string_view line,
                    const std::string& origin) {
  NamedPair pair{{}, {}, origin};
  auto* side = &pair.source;
  for (const auto& symbol : symbols) {
    if (symbol != kBar) {
      side->emplace_back(symbol);
      continue;
    }
    check(side == &pair.source, kWhere,
          "{}: a pair must have one {} between its sides, got a second one", origin, kBar);
    side = &pair.target;
  }
  check(side == &pair.target, kWhere,
        "{}: expected 'source {} target' with blanks around the bars, got '{}'", origin, kBar,
        line);
  return pair;
}

// The words of one side and its alphabet.
class Side {
 public:
  Side(const char* name, std::optional<Alphabet> alphabet)
      : name_(name), given_(std::move(alphabet)) {}

  Word word(const std::vector<std::string>& symbols, const std::string& origin) {
    Word word;
    for (const auto& symbol : symbols) {
      if (given_) {
        const auto id = given_->find(symbol);
        if (!id) {
          const auto near = nearest_names(symbol, given_->symbols());
          fail(kWhere, "{}: '{}' is not in the {} alphabet{}", origin, symbol, name_,
               near.empty() ? "" : ", did you mean " + near + "?");
        }
        word.push_back(*id);
        continue;
      }
      check(symbol != kBar, kWhere, "{}: a symbol must not be {}", origin, kBar);
      const auto [found, is_new] = ids_.emplace(symbol, static_cast<int>(used_.size()));
      if (is_new) used_.push_back(symbol);
      word.push_back(found->second);
    }
    return word;
  }
  Alphabet alphabet() const { return given_ ? *given_ : Alphabet(used_); }

 private:
  const char* name_;
  std::optional<Alphabet> given_;
  std::vector<std::string> used_;
  std::unordered_map<std::string, int> ids_;
};

}  // namespace

PairList::PairList(Alphabet source, Alphabet target, std::vector<Pair> pairs, std::string name)
    : PairSource(std::move(source), std::move(target)),
      pairs_(std::move(pairs)),
      name_(std::move(name)) {
  check(!pairs_.empty(), kWhere, "{}: the text contains no pairs", name_);
  const auto known = [](const Word& word, const Alphabet& alphabet) {
    for (const int id : word) alphabet.symbol(id);  // throws on an invalid id
  };
  for (const auto& pair : pairs_) {
    known(pair.source, source_alphabet());
    known(pair.target, target_alphabet());
  }
}

Json PairList::describe() const {
  return {{"kind", "list"}, {"name", name_}, {"pairs", pairs_.size()}};
}

std::vector<Pair> PairList::draw(std::int64_t count, Random& random) const {
  check(count >= 0, kWhere, "count must be at least 0, got {}", count);
  std::vector<Pair> drawn;
  drawn.reserve(count);
  for (std::int64_t i = 0; i < count; ++i) drawn.push_back(pairs_[random.below(pairs_.size())]);
  return drawn;
}

std::shared_ptr<const PairList> make_pair_list(const std::vector<NamedPair>& pairs,
                                               const PairAlphabets& alphabets, std::string name) {
  Side source("source", alphabets.source), target("target", alphabets.target);
  std::vector<Pair> words;
  for (const auto& pair : pairs)
    words.push_back({source.word(pair.source, pair.origin), target.word(pair.target, pair.origin)});
  return std::make_shared<PairList>(source.alphabet(), target.alphabet(), std::move(words),
                                    std::move(name));
}

std::shared_ptr<const PairList> parse_pairs(std::string_view text, const std::string& file,
                                            const PairAlphabets& alphabets) {
  std::vector<NamedPair> pairs;
  read_lines(kWhere, text, file, [&](std::string_view line, const std::string& origin) {
    const auto symbols = words_between_blanks(line);
    const bool comment =
        line.starts_with("# ") && std::find(symbols.begin(), symbols.end(), kBar) == symbols.end();
    if (!symbols.empty() && !comment) pairs.push_back(read_pair(symbols, line, origin));
  });
  return make_pair_list(pairs, alphabets, file);
}

std::string pairs_text(const PairSource& source, const std::vector<Pair>& pairs) {
  std::string text;
  for (const auto& pair : pairs) {
    const auto left = source.source_alphabet().text(pair.source);
    const auto right = source.target_alphabet().text(pair.target);
    const auto line =
        fmt::format("{}{}|||{}{}", left, left.empty() ? "" : " ", right.empty() ? "" : " ", right);
    // The blank keeps the first symbol from losing a byte order mark.
    text += (line.starts_with("\xEF\xBB\xBF") ? " " : "") + line + "\n";
  }
  return text;
}

}  // namespace pushdown
