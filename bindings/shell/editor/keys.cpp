#include "bindings/shell/editor/keys.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace pushdown {
namespace {

constexpr std::string_view kPasteEnd = "\033[201~";
constexpr char kCtrlC = 3, kEscape = 27, kDelete = 127;

bool is_control(char c) { return (c >= 0 && c < ' ') || c == kDelete; }

std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC2 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 1;
}

// Returns the name of the key "\033[" PARAMETERS LAST. The parameters are a number, and 1 plus a
// sum of modifiers; both may be absent.
std::string name_of_sequence(const std::string& parameters, char last) {
  static const std::map<std::string, std::string> kNames = {
      {"A", "up"},   {"B", "down"},  {"C", "right"}, {"D", "left"},
      {"F", "end"},  {"H", "home"},  {"1~", "home"}, {"3~", "delete"},
      {"4~", "end"}, {"7~", "home"}, {"8~", "end"},  {"200~", "paste"}};
  const auto separator = std::min(parameters.find(';'), parameters.size());
  const auto found = kNames.find((last == '~' ? parameters.substr(0, separator) : "") + last);
  if (found == kNames.end()) return "unknown";
  const int modifiers = separator < parameters.size() ? parameters[separator + 1] - '1' : 0;
  if (modifiers < 2) return found->second;
  return ((modifiers & 4) != 0 ? "C-" : (modifiers & 2) != 0 ? "M-" : "") + found->second;
}

// Returns the pasted text with "\n" at the ends of its lines, but not at its own end.
std::string cleaned(std::string_view pasted) {
  std::string text;
  for (std::size_t i = 0; i < pasted.size(); ++i) {
    if (pasted[i] == '\n' && i > 0 && pasted[i - 1] == '\r') continue;
    text += pasted[i] == '\r' ? '\n' : pasted[i];
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace

std::vector<Key> KeyReader::take(char byte) {
  keys_.clear();
  switch (state_) {
    case State::start: begin(byte); break;
    case State::escape:
      alt_ = byte == kEscape || (byte != '[' && byte != 'O' && byte != kCtrlC);
      text_.clear();
      if (byte == '[' || byte == 'O')
        state_ = State::sequence;
      else
        begin(byte);
      break;
    case State::sequence: take_sequence(byte); break;
    case State::console: complete("unknown"); break;
    case State::character:
      if ((byte & 0xC0) != 0x80) {
        complete("", text_);
        begin(byte);
      } else {
        text_ += byte;
        if (text_.size() == size_) complete("", text_);
      }
      break;
    case State::paste: take_pasted(byte); break;
  }
  return std::move(keys_);
}

void KeyReader::begin(char byte) {
  size_ = character_size(byte);
  text_ = byte;
  if (byte == kEscape)
    state_ = State::escape;
  else if (is_control(byte))
    complete(std::string("^") + static_cast<char>(byte ^ '@'));
  else if (size_ > 1)
    state_ = State::character;
  else if (alt_)
    complete(text_);
  else
    complete("", text_);
}

void KeyReader::take_sequence(char byte) {
  if (is_control(byte)) {
    alt_ = false;
    begin(byte);
  } else if (byte >= 0 && byte < '@') {
    text_ += byte;
  } else if (byte == '[' && text_.empty()) {
    state_ = State::console;  // a function key of the Linux console has one more byte
  } else if (const auto name = name_of_sequence(text_, byte); name != "paste") {
    complete(name);
  } else {
    alt_ = false;
    text_.clear();
    state_ = State::paste;
  }
}

void KeyReader::take_pasted(char byte) {
  text_ += byte;
  if (byte == kCtrlC)
    complete("^C");  // the end of the paste was lost
  else if (text_.ends_with(kPasteEnd))
    complete("paste", cleaned(text_.substr(0, text_.size() - kPasteEnd.size())));
}

std::size_t KeyReader::missing() const {
  if (state_ != State::paste) return 1;
  auto begun = std::min(text_.size(), kPasteEnd.size() - 1);
  while (!text_.ends_with(kPasteEnd.substr(0, begun))) --begun;
  return kPasteEnd.size() - begun;
}

void KeyReader::complete(const std::string& name, std::string text) {
  keys_.push_back({(alt_ ? "M-" : "") + name, std::move(text)});
  state_ = State::start;
  alt_ = false;
  text_.clear();
}

}  // namespace pushdown
