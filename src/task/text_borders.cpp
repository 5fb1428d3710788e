#include "task/text_borders.h"

#include <utf8proc.h>

#include "task/unicode_classes.h"

namespace pushdown {
namespace {

// A code point together with the extending and format characters after it, which the rules ignore
// (WB4, SB5).
template <class Class>
struct Unit {
  Class kind = Class::none;
  std::size_t begin = 0;
  char32_t first = 0, last = 0;
  bool extended = false;
};

bool is_ignored(WordClass kind) {
  return kind == WordClass::extend || kind == WordClass::format || kind == WordClass::zwj;
}
bool is_ignored(SentenceClass kind) {
  return kind == SentenceClass::extend || kind == SentenceClass::format;
}
bool ends_line(WordClass kind) {
  return kind == WordClass::cr || kind == WordClass::lf || kind == WordClass::newline;
}
bool ends_line(SentenceClass kind) {
  return kind == SentenceClass::cr || kind == SentenceClass::lf || kind == SentenceClass::sep;
}

template <class Class>
class Units {
 public:
  Units(std::string_view text, Class (*class_of)(char32_t)) : text_(text), class_of_(class_of) {
    read();
  }

  // Returns a unit of the class `none` at the end of the text.
  Unit<Class> next() {
    Unit<Class> unit{kind_, begin_, code_, code_};
    if (kind_ == Class::none) return unit;
    read();
    if (ends_line(unit.kind)) return unit;
    for (; is_ignored(kind_); read()) {
      unit.last = code_;
      unit.extended = true;
    }
    return unit;
  }

 private:
  void read() {
    begin_ = end_;
    kind_ = Class::none;
    if (end_ == text_.size()) return;
    code_ = next_code_point(text_, end_);
    kind_ = class_of_(code_);
  }

  std::string_view text_;
  Class (*class_of_)(char32_t);
  // The code point that was read last, and its place.
  char32_t code_ = 0;
  Class kind_ = Class::none;
  std::size_t begin_ = 0, end_ = 0;
};

// ---- Words ----

using WordUnit = Unit<WordClass>;

bool is_letter(const WordUnit& unit) {
  return unit.kind == WordClass::letter || unit.kind == WordClass::hebrew;
}
bool is_numeric(const WordUnit& unit) { return unit.kind == WordClass::numeric; }
bool may_be_in(const WordUnit& unit, WordClass mid) {
  return unit.kind == mid || unit.kind == WordClass::mid_num_let ||
         unit.kind == WordClass::single_quote;
}

// Returns whether a word goes on from `left` to `right`; `before` and `after` are their neighbours.
bool same_word(const WordUnit& before, const WordUnit& left, const WordUnit& right,
               const WordUnit& after) {
  using enum WordClass;
  constexpr char32_t kJoiner = 0x200D;
  if (left.kind == cr && right.kind == lf) return true;                   // WB3
  if (ends_line(left.kind) || ends_line(right.kind)) return false;        // WB3a, WB3b
  if (left.last == kJoiner && is_pictographic(right.first)) return true;  // WB3c
  if (left.kind == space && right.kind == space) return !left.extended;   // WB3d
  const bool word_left = is_letter(left) || is_numeric(left);
  const bool word_right = is_letter(right) || is_numeric(right);
  if (word_left && word_right) return true;  // WB5, WB8 to WB10
  if (is_letter(left) && may_be_in(right, mid_letter) && is_letter(after)) return true;   // WB6
  if (is_letter(before) && may_be_in(left, mid_letter) && is_letter(right)) return true;  // WB7
  if (left.kind == hebrew && right.kind == single_quote) return true;                     // WB7a
  if (left.kind == hebrew && right.kind == double_quote && after.kind == hebrew)
    return true;  // WB7b
  if (before.kind == hebrew && left.kind == double_quote && right.kind == hebrew)
    return true;                                                                         // WB7c
  if (is_numeric(before) && may_be_in(left, mid_num) && is_numeric(right)) return true;  // WB11
  if (is_numeric(left) && may_be_in(right, mid_num) && is_numeric(after)) return true;   // WB12
  if (left.kind == katakana && right.kind == katakana) return true;                      // WB13
  if (right.kind == extend_num_let)                                                      // WB13a
    return word_left || left.kind == katakana || left.kind == extend_num_let;
  return left.kind == extend_num_let && (word_right || right.kind == katakana);  // WB13b
}

// ---- Sentences ----

using SentenceUnit = Unit<SentenceClass>;

bool is_stop(SentenceClass kind) {
  return kind == SentenceClass::a_term || kind == SentenceClass::s_term;
}

// Returns whether the next letter of the text, before another end of a sentence, is lower-case.
bool goes_on_lower(SentenceUnit unit, Units<SentenceClass> units) {
  using enum SentenceClass;
  while (unit.kind != none && unit.kind != letter && unit.kind != upper && unit.kind != lower &&
         !ends_line(unit.kind) && !is_stop(unit.kind))
    unit = units.next();
  return unit.kind == lower;
}

// The end of a sentence: a stop, closing punctuation, and space.
class Stop {
 public:
  void add(SentenceClass before, SentenceClass kind) {
    using enum SentenceClass;
    if (is_stop(kind)) {
      part_ = stop;
      abbreviates_ = kind == a_term;
      cased_ = before == upper || before == lower;
    } else if (kind == close && (part_ == stop || part_ == closed)) {
      part_ = closed;
    } else {
      part_ = kind == space && part_ != absent ? spaced : absent;
    }
  }

  // Returns whether the sentence goes on with `right`. `rest` follows.
  bool goes_on(const SentenceUnit& right, const Units<SentenceClass>& rest) const {
    using enum SentenceClass;
    if (part_ == absent) return true;  // SB998
    const bool directly = part_ == stop && abbreviates_;
    if (directly && (right.kind == numeric || (cased_ && right.kind == upper)))
      return true;  // SB6, SB7
    if (is_stop(right.kind) || right.kind == s_continue || right.kind == space ||
        ends_line(right.kind))
      return true;                                            // SB8a, SB9, SB10
    if (right.kind == close && part_ != spaced) return true;  // SB9
    return abbreviates_ && goes_on_lower(right, rest);        // SB8, SB11
  }

 private:
  enum Part { absent, stop, closed, spaced };
  Part part_ = absent;
  bool abbreviates_ = false;  // the stop is a full stop, which abbreviations have, too
  bool cased_ = false;        // it follows a letter with case
};

}  // namespace

void split_words(std::string_view text, const VisitPiece& visit) {
  Units<WordClass> units(text, word_class);
  WordUnit before, left = units.next(), right = units.next();
  std::size_t begin = 0;
  bool paired = false;  // `left` ends a flag, which consists of two regional indicators
  while (left.kind != WordClass::none) {
    const WordUnit after = units.next();
    const bool flag = left.kind == WordClass::regional && right.kind == WordClass::regional;
    const bool joined = (flag && !paired) || same_word(before, left, right, after);  // WB15, WB16
    paired = flag && !paired;
    if (!joined) {
      visit(text.substr(begin, right.begin - begin));
      begin = right.begin;
    }
    before = left;
    left = right;
    right = after;
  }
}

void split_sentences(std::string_view text, const VisitPiece& visit) {
  Units<SentenceClass> units(text, sentence_class);
  SentenceClass before = SentenceClass::none;
  SentenceUnit left = units.next();
  std::size_t begin = 0;
  Stop stop;
  while (left.kind != SentenceClass::none) {
    const SentenceUnit right = units.next();
    stop.add(before, left.kind);
    const bool joined = left.kind == SentenceClass::cr && right.kind == SentenceClass::lf;  // SB3
    if (right.kind == SentenceClass::none ||
        (!joined && (ends_line(left.kind) || !stop.goes_on(right, units)))) {  // SB4
      visit(text.substr(begin, right.begin - begin));
      begin = right.begin;
    }
    before = left.kind;
    left = right;
  }
}

void split_characters(std::string_view text, const VisitPiece& visit) {
  utf8proc_int32_t state = 0;
  char32_t before = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(text, at);
    if (start > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                                      static_cast<utf8proc_int32_t>(c), &state)) {
      visit(text.substr(begin, start - begin));
      begin = start;
    }
    before = c;
  }
  if (begin < text.size()) visit(text.substr(begin));
}

}  // namespace pushdown
