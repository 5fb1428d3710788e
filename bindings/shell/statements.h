// Facts about an entry that do not need compilation: where its statements may begin, which locals
// it declares outside of its blocks, and the prompts of a copied session.
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
  struct Declaration {
    std::size_t place, end;  // of `local x, y` or `local function f`
    std::vector<std::string> names;
    bool function;
  };
  std::vector<Start> starts;        // outside of blocks and brackets; the first one is left out
  std::vector<std::string> locals;  // each once
  std::vector<Declaration> declarations;        // of these locals
  std::size_t last_return = std::string::npos;  // place of a `return` outside of blocks
};
// Reads any text; if it is not Lua, the result is incomplete.
Outline outline_of(std::string_view code);

// Returns the code with globals in place of its locals, except for those with the names `kept`.
std::string without_locals(std::string_view code, const std::vector<std::string>& kept);

// Returns whether a statement that is a call may begin with this text, which is then a name.
bool begins_with_name(std::string_view code);

// Returns the text after `pd> ` or `... ` in a line of a copied session, or nothing.
struct SessionLine {
  enum class Kind { entry, continuation, other };
  Kind kind;
  std::string_view text;
};
// Returns whether the text begins with the prompt `pd> `.
bool is_session(std::string_view text);
std::vector<SessionLine> session_lines(std::string_view text);

}  // namespace pushdown
