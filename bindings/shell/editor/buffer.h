// The text of an entry, its cursor, and the changes that can be undone. Places are bytes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

class Buffer {
 public:
  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }
  bool at_end() const { return cursor_ == text_.size(); }
  // The text from the beginning of the line to the cursor.
  std::string_view before_cursor() const;

  void move(std::size_t place);
  // Moves to the same column of the line above or below. Returns false if there is none.
  bool move_lines(int by);
  // Replaces a part of the text and moves behind it. Characters that are typed one after the other
  // are one change.
  void replace(std::size_t begin, std::size_t end, std::string_view text, bool typed = false);
  void insert(std::string_view text) { replace(cursor_, cursor_, text); }
  void assign(std::string_view text) { replace(0, text_.size(), text); }
  void undo();
  // Forgets all.
  void clear();

  std::size_t line_begin(std::size_t place) const;
  std::size_t line_end(std::size_t place) const;
  // The beginnings of the characters, and of the words, beside the cursor.
  std::size_t left() const;
  std::size_t right() const;
  std::size_t word_left() const;
  std::size_t word_right() const;
  // The same to the left for words between blanks.
  std::size_t blank_left() const;

 private:
  struct Change {
    std::size_t begin, inserted, cursor;  // inserted: a size; cursor: before
    std::string removed;
    bool typed;
  };

  std::string text_;
  std::size_t cursor_ = 0;
  int wanted_column_ = -1;  // of vertical moves
  std::vector<Change> changes_;
};

// Returns the end of the word after this place.
std::size_t word_end(std::string_view text, std::size_t place);

}  // namespace pushdown
