// What keys do to an entry. Neither reads nor writes.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/shell/candidates.h"
#include "bindings/shell/editor/buffer.h"
#include "bindings/shell/editor/history.h"
#include "bindings/shell/editor/keys.h"
#include "bindings/shell/editor/layout.h"

namespace pushdown {

class EntryEditor {
 public:
  struct Helpers {
    std::function<Completion(std::string_view)> complete;   // of an entry up to the cursor
    std::function<bool(const std::string&)> is_incomplete;  // for Enter, which then begins a line
  };
  // What remains to be done after a key.
  enum class Action { draw, submit, interrupt, end, suspend, clear_window, list };

  EntryEditor(Helpers helpers, const History& history, bool suggests)
      : helpers_(std::move(helpers)), history_(history), suggests_(suggests) {}

  // Begins an empty entry.
  void start();
  Action take(const Key& key);
  const std::string& text() const { return buffer_.text(); }
  View view() const;
  // Returns what stays on the screen afterwards.
  View last_view() const { return {text(), text().size(), "", ""}; }
  // The words of Action::list.
  const std::vector<std::string>& candidates() const { return candidates_; }

 private:
  struct Search {
    std::string wanted;
    std::string text;  // of the entry before, and its cursor
    std::size_t cursor;
    std::size_t index;  // in the history, of the entry that is shown
    bool failed = false;
  };

  // Returns false for other keys.
  bool move_by_key(const Key& key);
  void change_by_key(const Key& key);
  // Returns false for a key that ends the search and has its usual meaning.
  bool take_in_search(const Key& key);
  void find(std::size_t index, int step);
  std::string_view suggestion() const;
  void recall(std::size_t index);
  void kill(std::size_t begin, std::size_t end);
  void complete();
  void enter();

  Helpers helpers_;
  const History& history_;
  const bool suggests_;
  Buffer buffer_;
  Action action_ = Action::draw;
  std::size_t recalled_ = 0;  // in the history; its size for the new entry
  std::string draft_;         // the new entry, while another one is shown
  std::optional<Search> search_;
  std::string killed_;
  bool kills_ = false, killed_before_ = false;  // this key and the one before
  std::vector<std::string> candidates_;
};

}  // namespace pushdown
