// The keys that a terminal sends as bytes.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace pushdown {

struct Key {
  // "" for characters, "paste", "^A" for Ctrl-A, "up", "C-left" with Ctrl, "M-f" with Alt, or any
  // other name for a key without a meaning.
  std::string name;
  std::string text;  // of characters and pastes; bytes that are not UTF-8 stay
};

// Joins bytes to keys. Escape alone is the beginning of a key with Alt.
class KeyReader {
 public:
  // Returns the keys that this byte completes: none, one, or two after an incomplete character.
  std::vector<Key> take(char byte);
  // Returns a number of bytes that certainly belong to the key that has begun, at least 1.
  std::size_t missing() const;

 private:
  enum class State { start, escape, sequence, console, character, paste };

  void begin(char byte);
  void take_sequence(char byte);
  void take_pasted(char byte);
  void complete(const std::string& name, std::string text = "");

  State state_ = State::start;
  bool alt_ = false;
  std::string text_;      // the bytes of the key so far
  std::size_t size_ = 0;  // of the character
  std::vector<Key> keys_;
};

}  // namespace pushdown
