// What can be seen of an entry without compiling it: where its statements may begin, which locals
// are declared outside of its blocks, and the prompts of a session that was copied from somewhere.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

struct Outline {
  struct Start {
    std::size_t place;     // of the first character
    bool after_semicolon;  // else at the beginning of a line
  };
  std::vector<Start> starts;        // outside of blocks and brackets; the first one is left out
  std::vector<std::string> locals;  // each once
};
// Of any text; where that is not Lua, some of it.
Outline outline_of(std::string_view code);

// Whether a statement that is a call may begin with this text: it begins with a name.
bool begins_with_name(std::string_view code);

// A line of a copied session: what it has behind `pd> ` or `... `, or neither.
struct SessionLine {
  enum class Kind { entry, continuation, other };
  Kind kind;
  std::string_view text;
};
// Whether the text begins with the prompt `pd> `.
bool is_session(std::string_view text);
std::vector<SessionLine> session_lines(std::string_view text);

}  // namespace pushdown
