// Reads entries: with an editor on a terminal that can move its cursor, otherwise plain lines.
#pragma once
#include <memory>
#include <string>

#include "bindings/shell/editor/entry_editor.h"

namespace pushdown {

class Editor {
 public:
  enum class Event { text, interrupted, end };
  struct Reading {
    Event event;
    std::string text;  // a whole entry, or a plain line of one; without the last newline
  };
  using Helpers = EntryEditor::Helpers;

  virtual ~Editor() = default;
  // `continues`: the plain line continues an entry.
  virtual Reading read(bool continues) = 0;
  // Keeps an entry, possibly of several lines, for recall at this prompt and later ones.
  virtual void remember(const std::string& entry) {}
  // Whether a person uses the terminal, so that prompts, colours and a greeting make sense.
  virtual bool interactive() const = 0;
};

// Returns the best editor for the process's standard input and output.
std::unique_ptr<Editor> make_editor(Editor::Helpers helpers);
// Returns whether to colour the output to this file: it is a terminal other than "dumb", and
// NO_COLOR is not set.
bool use_color(int file);

}  // namespace pushdown
