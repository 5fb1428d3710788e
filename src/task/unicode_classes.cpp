#include "task/unicode_classes.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/utf8.h"

namespace pushdown {
namespace {

template <class Class>
struct Range {
  char32_t first, last;
  Class kind;
};

// The code points of a class that do not follow from their category: "2C 60C-60D".
template <class Class>
struct Listed {
  Class kind;
  std::string_view code_points;
};

template <class Class>
class Ranges {
 public:
  explicit Ranges(std::initializer_list<Listed<Class>> lists) {
    for (const auto& [kind, code_points] : lists)
      for (const auto piece : words_between_blanks(code_points)) {
        const auto dash = std::min(piece.find('-'), piece.size());
        const char32_t first = hexadecimal(piece.substr(0, dash));
        const char32_t last = dash == piece.size() ? first : hexadecimal(piece.substr(dash + 1));
        ranges_.push_back({first, last, kind});
      }
    std::ranges::sort(ranges_, {}, &Range<Class>::first);
  }

  Class find(char32_t c, Class otherwise) const {
    const auto after = std::ranges::upper_bound(ranges_, c, {}, &Range<Class>::first);
    if (after == ranges_.begin() || std::prev(after)->last < c) return otherwise;
    return std::prev(after)->kind;
  }

 private:
  static char32_t hexadecimal(std::string_view digits) {
    std::uint32_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
  }

  std::vector<Range<Class>> ranges_;
};

WordClass listed(char32_t c, WordClass otherwise) {
  using enum WordClass;
  static const Ranges<WordClass> ranges({
      {lf, "A"},
      {newline, "B-C 85"},
      {cr, "D"},
      {double_quote, "22"},
      {single_quote, "27"},
      {mid_num, "2C 3B 37E 589 60C-60D 66C 7F8 2044 FE10 FE14 FE50 FE54 FF0C FF1B"},
      {mid_num_let, "2E 2018-2019 2024 FE52 FF07 FF0E"},
      {mid_letter, "3A B7 387 55F 5F4 2027 FE13 FE55 FF1A"},
      {other,
       "A0 E01-EDF 1000-108E 1780-17DC 1950-19C9 1A20-1AA7 2007 200B 3006-3029 3038-303A "
       "3041-3096 309D-309F 3400-9FFF A9E0-A9FE AA60-AADD F900-FAD9 11700-11746 17000-18D08 "
       "1B001-1B11F 1B132-1B152 1B170-1B2FB 20000-3FFFD"},
      {letter,
       "2C2-2D7 2DE-2FF 55A-55C 55E 58A 5F3 24B6-24E9 A708-A78A AB5B 1F130-1F149 1F150-1F169 "
       "1F170-1F189"},
      {hebrew, "5D0-5F2 FB1D-FB28 FB2A-FB4F"},
      {numeric, "66B"},
      {zwj, "200D"},
      {extend_num_let, "202F"},
      {katakana,
       "3031-3035 309B-309C 30A0-30FA 30FC-30FF 31F0-31FF 32D0-32FE 3300-3357 FF66-FF9D "
       "1AFF0-1B000 1B120-1B122 1B155-1B167"},
  });
  return ranges.find(c, otherwise);
}

SentenceClass listed(char32_t c, SentenceClass otherwise) {
  using enum SentenceClass;
  static const Ranges<SentenceClass> ranges({
      {space, "9 B-C"},
      {lf, "A"},
      {cr, "D"},
      {s_term,
       "21 3F 589 61D-61F 6D4 700-702 7F9 837 839 83D-83E 964-965 104A-104B 1362 1367-1368 "
       "166E 1735-1736 1803 1809 1944-1945 1AA8-1AAB 1B5A-1B5B 1B5E-1B5F 1B7D-1B7E 1C3B-1C3C "
       "1C7E-1C7F 203C-203D 2047-2049 2E2E 2E3C 2E53-2E54 3002 A4FF A60E-A60F A6F3 A6F7 "
       "A876-A877 A8CE-A8CF A92F A9C8-A9C9 AA5D-AA5F AAF0-AAF1 ABEB FE56-FE57 FF01 FF1F FF61 "
       "10A56-10A57 10F55-10F59 10F86-10F89 11047-11048 110BE-110C1 11141-11143 111C5-111C6 "
       "111CD 111DE-111DF 11238-11239 1123B-1123C 112A9 1144B-1144C 115C2-115C3 115C9-115D7 "
       "11641-11642 1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C 11C41-11C42 11EF7-11EF8 "
       "11F43-11F44 16A6E-16A6F 16AF5 16B37-16B38 16B44 16E98 1BC9F 1DA88"},
      {close, "22 27 275B-2760 2E00-2E0B 1F676-1F678"},
      {s_continue,
       "2C-2D 3A 55D 60C-60D 7F8 1802 1808 2013-2014 3001 FE10-FE11 FE13 FE31-FE32 FE50-FE51 "
       "FE55 FE58 FE63 FF0C-FF0D FF1A FF64"},
      {a_term, "2E 2024 FE52 FF0E"},
      {sep, "85"},
      {lower,
       "AA BA 2B0-2B8 2C0-2C1 2E0-2E4 37A 10FC 1D2C-1DBF 2071 207F 2090-209C 2170-217F "
       "24D0-24E9 2C7C-2C7D A69C-A69D A770 A7F2-A7F4 A7F8-A7F9 AB5C-AB69 10780 10783-107BA "
       "1E030-1E06D"},
      {letter, "5F3 10D0-10FA 10FD-10FF 1C90-1CBF"},
      {numeric, "66B-66C"},
      {extend, "200D"},
      {upper, "2160-216F 24B6-24CF 1F130-1F149 1F150-1F169 1F170-1F189"},
  });
  return ranges.find(c, otherwise);
}

bool has_bound(char32_t c, utf8proc_boundclass_t bound) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass == bound;
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Returns whether c belongs to the character before it.
bool extends(char32_t c, utf8proc_category_t category) {
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME || has_bound(c, UTF8PROC_BOUNDCLASS_EXTEND);
}

}  // namespace

WordClass word_class(char32_t c) {
  using enum WordClass;
  const utf8proc_category_t kind = category(c);
  if (extends(c, kind)) return extend;
  switch (kind) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT: return letter;
    case UTF8PROC_CATEGORY_ND: return numeric;
    case UTF8PROC_CATEGORY_PC: return extend_num_let;
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return newline;
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_NL: return listed(c, letter);
    case UTF8PROC_CATEGORY_ZS: return listed(c, space);
    case UTF8PROC_CATEGORY_CF: return listed(c, format);
    case UTF8PROC_CATEGORY_SO:
      if (has_bound(c, UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR)) return regional;
      return listed(c, other);
    case UTF8PROC_CATEGORY_CN: return other;
    default: return listed(c, other);
  }
}

SentenceClass sentence_class(char32_t c) {
  using enum SentenceClass;
  const utf8proc_category_t kind = category(c);
  if (kind != UTF8PROC_CATEGORY_SK && extends(c, kind)) return extend;
  switch (kind) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return listed(c, upper);
    case UTF8PROC_CATEGORY_LL: return listed(c, lower);
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_NL: return listed(c, letter);
    case UTF8PROC_CATEGORY_ND: return numeric;
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return sep;
    case UTF8PROC_CATEGORY_ZS: return space;
    case UTF8PROC_CATEGORY_CF: return listed(c, format);
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF: return close;
    case UTF8PROC_CATEGORY_CN: return other;
    default: return listed(c, other);
  }
}

bool is_pictographic(char32_t c) { return has_bound(c, UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC); }

bool is_cased(char32_t c) {
  constexpr char32_t kIotaBelow = 0x345;  // a mark whose upper case is a letter
  const utf8proc_category_t kind = category(c);
  const SentenceClass sentence = sentence_class(c);
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
         sentence == SentenceClass::lower || sentence == SentenceClass::upper || c == kIotaBelow;
}

bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: {
      const WordClass word = word_class(c);
      return word == WordClass::mid_letter || word == WordClass::mid_num_let ||
             word == WordClass::single_quote;
    }
  }
}

bool is_invisible(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ZS && kind <= UTF8PROC_CATEGORY_CF;
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  utf8proc_int32_t c = 0;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                     static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  at += size > 0 ? size : 1;
  return size > 0 ? static_cast<char32_t>(c) : U'\uFFFD';
}

}  // namespace pushdown
