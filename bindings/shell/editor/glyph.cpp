#include "bindings/shell/editor/glyph.h"

#include <utf8proc.h>

#include <cstdio>

#include "bindings/binder/text.h"

namespace pushdown {
namespace {

constexpr int kTab = 8;

struct Point {
  utf8proc_int32_t code = 0;
  std::size_t size = 1;
  bool valid = false;  // else it is a byte that is not UTF-8
  int width() const { return valid ? utf8proc_charwidth(code) : 0; }
};

Point point_at(std::string_view text, std::size_t place) {
  Point point;
  const auto size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + place,
                       static_cast<utf8proc_ssize_t>(text.size() - place), &point.code);
  point.valid = size > 0;
  if (point.valid) point.size = static_cast<std::size_t>(size);
  return point;
}

bool is_ascii(std::string_view text, std::size_t place) {
  return place >= text.size() || (text[place] & 0x80) == 0;
}

std::string code_of(utf8proc_int32_t point) {
  char text[16];
  std::snprintf(text, sizeof text, "\\u{%X}", static_cast<unsigned>(point));
  return text;
}

}  // namespace

std::size_t character_end(std::string_view text, std::size_t place) {
  if (is_ascii(text, place) && is_ascii(text, place + 1)) return place + 1;
  auto before = point_at(text, place);
  utf8proc_int32_t state = 0;
  for (place += before.size; before.valid && place < text.size(); place += before.size) {
    const auto next = point_at(text, place);
    if (!next.valid || utf8proc_grapheme_break_stateful(before.code, next.code, &state)) break;
    before = next;
  }
  return place;
}

Glyph glyph_at(std::string_view text, std::size_t place, int column) {
  const int to_tab = kTab - column % kTab;
  if (text[place] == '\t') return {place + 1, to_tab, std::string(to_tab, ' ')};
  Glyph glyph{character_end(text, place), 1, ""};
  if (glyph.end == place + 1 && text[place] >= ' ' && text[place] < 127) return glyph;
  const auto point = point_at(text, place);
  auto end = place + point.size;
  glyph.width = point.width();
  while (glyph.width > 0 && end < glyph.end) {
    const auto next = point_at(text, end);
    if (next.width() > 0) break;
    end += next.size;
  }
  glyph.end = end;
  const auto bytes = text.substr(place, end - place);
  if (const auto safe = without_controls(bytes, true); safe != bytes)
    glyph.shown = safe;
  else if (glyph.width == 0)
    glyph.shown = code_of(point.code);
  if (!glyph.shown.empty()) glyph.width = static_cast<int>(glyph.shown.size());
  return glyph;
}

int width_between(std::string_view text, std::size_t begin, std::size_t end, int column) {
  const int before = column;
  while (begin < end) {
    const auto glyph = glyph_at(text, begin, column);
    column += glyph.width;
    begin = glyph.end;
  }
  return column - before;
}

}  // namespace pushdown
