#include "task/bracketed_text.h"

#include <array>

#include "base/check.h"
#include "base/utf8.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "tree.read";

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kBrackets{{{"-LRB-", "("},
                                                                                  {"-RRB-", ")"},
                                                                                  {"-LCB-", "{"},
                                                                                  {"-RCB-", "}"},
                                                                                  {"-LSB-", "["},
                                                                                  {"-RSB-", "]"}}};

std::string unescaped(std::string_view word) {
  for (const auto& [escape, bracket] : kBrackets)
    if (word == escape) return std::string(bracket);
  std::string plain;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto rest = word.substr(i);
    const bool escape = rest.starts_with("\\/") || rest.starts_with("\\*");
    // Inside a word, only round brackets are escaped, as in bracketed().
    if (rest.starts_with("-LRB-") || rest.starts_with("-RRB-")) {
      plain += rest[1] == 'L' ? '(' : ')';
      i += 4;
    } else if (!escape) {
      plain += word[i];
    }
  }
  return plain;
}

// Reduces NP-SBJ-1 and NP=2 to NP.
std::string without_functions(std::string_view label) {
  const auto end = label.find_first_of("-=");
  return std::string(label.substr(0, end == 0 ? label.npos : end));
}

class BracketReader {
 public:
  BracketReader(std::string_view text, const std::string& file, const BracketOptions& options)
      : text_(text), file_(file), options_(options) {}

  std::vector<PhraseTree> run() {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    while (next()) {
      if (token_ == "(")
        open();
      else if (token_ == ")")
        close();
      else
        word();
    }
    if (!open_.empty()) stop(open_.front().line, "the bracket opened here is never closed");
    check(found_, kWhere, "{}: the text contains no trees", file_);
    return std::move(trees_);
  }

 private:
  struct Open {
    int line;
    bool labelled = false, has_word = false, has_brackets = false;
    std::string label = {}, word = {};
    int begin = 0;            // its first word
    std::size_t phrases = 0;  // number of phrases before it
  };

  template <class... Args>
  [[noreturn]] void stop(int line, fmt::format_string<Args...> format, Args&&... args) const {
    fail(kWhere, "{}:{}: {}", file_, line, fmt::format(format, std::forward<Args>(args)...));
  }

  void check_bytes(std::string_view token) const {
    if (const auto zero = token.find('\0'); zero != token.npos)
      stop(line_, "the text contains a NUL byte; it must be UTF-8");
    if (const auto byte = find_invalid_utf8(token))
      stop(line_, "byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(token[*byte]));
  }

  bool next() {
    while (at_ < text_.size() && is_white_space(text_[at_])) line_ += text_[at_++] == '\n';
    if (at_ == text_.size()) return false;
    std::size_t end = at_ + 1;
    if (text_[at_] != '(' && text_[at_] != ')')
      while (end < text_.size() && !is_white_space(text_[end]) && text_[end] != '(' &&
             text_[end] != ')')
        ++end;
    token_ = text_.substr(at_, end - at_);
    at_ = end;
    check_bytes(token_);
    return true;
  }

  void open() {
    if (!open_.empty()) {
      auto& around = open_.back();
      if (around.has_word)
        stop(line_, "the word '{}' occurs beside brackets in ({} ...)", around.word, around.label);
      if (!options_.unlabelled && !around.labelled && labelled_ > 0)
        stop(around.line, "the bracket has no label");
      around.has_brackets = true;
    }
    open_.push_back({line_});
    open_.back().begin = static_cast<int>(words_.size());
    open_.back().phrases = phrases_.size();
    // Reserves its place in preorder; close() fills or removes it.
    phrases_.push_back({});
  }

  void word() {
    if (open_.empty()) stop(line_, "expected '(', got '{}'", token_);
    auto& bracket = open_.back();
    if (options_.unlabelled) {
      add_word("", token_);
      bracket.has_brackets = true;
    } else if (bracket.has_brackets) {
      stop(line_, "the word '{}' occurs beside brackets in ({} ...)", token_, bracket.label);
    } else if (!bracket.labelled) {
      bracket.labelled = true;
      bracket.label = token_;
      ++labelled_;
    } else if (bracket.has_word) {
      stop(line_, "({} ...) contains two words, '{}' and '{}'", bracket.label, bracket.word,
           token_);
    } else {
      bracket.has_word = true;
      bracket.word = token_;
    }
  }

  void add_word(std::string tag, std::string_view word) {
    words_.push_back(options_.keep_escapes ? std::string(word) : unescaped(word));
    tags_.push_back(std::move(tag));
  }

  void close() {
    if (open_.empty()) stop(line_, "the bracket closed here was never opened");
    const Open bracket = open_.back();
    if (!bracket.has_word && !bracket.has_brackets) {
      if (!bracket.labelled) stop(bracket.line, "the bracket is empty");
      stop(bracket.line, "({}) contains neither a word nor brackets", bracket.label);
    }
    open_.pop_back();
    labelled_ -= bracket.labelled;
    const int end = static_cast<int>(words_.size());
    if (bracket.has_word) {
      phrases_.pop_back();
      if (options_.keep_empty_elements || bracket.label != "-NONE-")
        add_word(bracket.label, bracket.word);
    } else if (end == bracket.begin) {
      phrases_.resize(bracket.phrases);
    } else {
      auto& phrase = phrases_[bracket.phrases];
      phrase.begin = bracket.begin;
      phrase.end = end;
      phrase.label = options_.keep_functions ? bracket.label : without_functions(bracket.label);
    }
    if (open_.empty()) finish(bracket.line);
  }

  void finish(int line) {
    found_ = true;
    if (words_.empty()) {
      if (!options_.skip_empty_sentences) stop(line, "the tree that begins here has no words");
      phrases_.clear();
      return;
    }
    // Unlabelled brackets around a single phrase carry no information.
    std::size_t outer = 0;
    const int size = static_cast<int>(words_.size());
    const auto whole = [&](std::size_t p) {
      return phrases_[p].begin == 0 && phrases_[p].end == size;
    };
    if (!options_.unlabelled)
      while (outer < phrases_.size() && phrases_[outer].label.empty() && whole(outer) &&
             (size == 1 || (outer + 1 < phrases_.size() && whole(outer + 1))))
        ++outer;
    phrases_.erase(phrases_.begin(), phrases_.begin() + static_cast<std::ptrdiff_t>(outer));
    trees_.emplace_back(std::move(words_), std::move(tags_), std::move(phrases_),
                        options_.keep_escapes);
    words_.clear();
    tags_.clear();
    phrases_.clear();
  }

  std::string_view text_, token_;
  const std::string& file_;
  const BracketOptions& options_;
  std::size_t at_ = 0;
  int line_ = 1;
  int labelled_ = 0;  // open brackets with a label
  bool found_ = false;
  std::vector<Open> open_;
  std::vector<std::string> words_, tags_;
  std::vector<Phrase> phrases_;
  std::vector<PhraseTree> trees_;
};

std::string escaped(const std::string& name, bool is_word) {
  std::string text;
  for (const char c : name) {
    if (c == '(')
      text += "-LRB-";
    else if (c == ')')
      text += "-RRB-";
    else if (is_word && (c == '/' || c == '*') && text.ends_with('\\'))
      text += std::string("\\") + c;
    else
      text += c;
  }
  return text;
}

}  // namespace

std::vector<PhraseTree> parse_brackets(std::string_view text, const std::string& file,
                                       const BracketOptions& options) {
  return BracketReader(text, file, options).run();
}

std::string bracketed(const PhraseTree& tree) {
  std::string text;
  std::vector<int> open;  // ends
  std::size_t p = 0;
  for (int i = 0; i < tree.size(); ++i) {
    if (i > 0) text += ' ';
    for (bool first = true; p < tree.phrases().size() && tree.phrases()[p].begin == i; ++p) {
      const auto& phrase = tree.phrases()[p];
      const auto around = text.empty() ? ' ' : text.back();
      if (!first && around != '(') text += ' ';
      text += "(" + escaped(phrase.label, false);
      open.push_back(phrase.end);
      first = false;
    }
    if (!text.empty() && text.back() != ' ' && text.back() != '(') text += ' ';
    const auto word = tree.escaped() ? tree.words()[i] : escaped(tree.words()[i], true);
    text += tree.tags()[i].empty() ? word : "(" + tree.tags()[i] + " " + word + ")";
    for (; !open.empty() && open.back() == i + 1; open.pop_back()) text += ')';
  }
  return text;
}

}  // namespace pushdown
