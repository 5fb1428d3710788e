// Reads lines: with libedit on a terminal that can move its cursor, otherwise plainly.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bindings/shell/completion.h"

namespace pushdown {

class Editor {
 public:
  enum class Event { line, interrupted, end };
  struct Reading {
    Event event;
    std::string line;  // without the newline
  };
  using Completer = std::function<Completion(std::string_view)>;

  virtual ~Editor() = default;
  virtual Reading read(const std::string& prompt) = 0;
  // Keeps an entry, possibly of several lines, for recall at this prompt and later ones.
  virtual void remember(const std::string& entry) {}
  // Whether a person uses the terminal, so that prompts, colours and a greeting make sense.
  virtual bool interactive() const = 0;
};

// Returns the best editor for the process's standard input and output.
std::unique_ptr<Editor> make_editor(Editor::Completer completer);
// Returns whether to colour the output to this file: it is a terminal other than "dumb", and
// NO_COLOR is not set.
bool use_color(int file);

}  // namespace pushdown
