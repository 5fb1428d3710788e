// How the parts of an entry look.
#pragma once
#include <string_view>
#include <vector>

namespace pushdown {

enum class Style { plain, prompt, keyword, text, number, comment, bracket, escape, suggestion };

// Returns the style of each byte of an entry. With the cursor at or after a bracket, that one and
// its partner are brackets. Commands (`:run`, `? topic`) are plain.
std::vector<Style> styles_of(std::string_view entry, std::size_t cursor);

// Returns the control sequence that begins a style.
const char* sequence_of(Style style);

}  // namespace pushdown
