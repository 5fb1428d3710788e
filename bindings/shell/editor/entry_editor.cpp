#include "bindings/shell/editor/entry_editor.h"

#include <algorithm>

namespace pushdown {
namespace {

template <class... Names>
bool is(const Key& key, const Names&... names) {
  return ((key.name == names) || ...);
}

}  // namespace

void EntryEditor::start() {
  buffer_.clear();
  draft_.clear();
  search_.reset();
  recalled_ = history_.entries().size();
}

EntryEditor::Action EntryEditor::take(const Key& key) {
  action_ = Action::draw;
  killed_before_ = std::exchange(kills_, false);
  if (search_ && take_in_search(key)) return action_;
  if (is(key, ""))
    buffer_.replace(buffer_.cursor(), buffer_.cursor(), key.text, true);
  else if (is(key, "paste"))
    buffer_.insert(key.text);
  else if (is(key, "^I"))
    complete();
  else if (is(key, "^M", "^J"))
    enter();
  else if (is(key, "^C"))
    action_ = Action::interrupt;
  else if (is(key, "^D") && text().empty())
    action_ = Action::end;
  else if (is(key, "^L"))
    action_ = Action::clear_window;
  else if (is(key, "^R"))
    search_ = {"", text(), buffer_.cursor(), recalled_};
  else if (is(key, "^Z"))
    action_ = Action::suspend;
  else if (!move_by_key(key))
    change_by_key(key);
  return action_;
}

bool EntryEditor::move_by_key(const Key& key) {
  const auto place = buffer_.cursor();
  const auto rest = suggestion();
  if (!rest.empty() && is(key, "^E", "end", "^F", "right"))
    buffer_.insert(rest);
  else if (!rest.empty() && is(key, "M-f", "M-right", "C-right"))
    buffer_.insert(rest.substr(0, word_end(rest, 0)));
  else if (is(key, "^A", "home"))
    buffer_.move(buffer_.line_begin(place));
  else if (is(key, "^E", "end"))
    buffer_.move(buffer_.line_end(place));
  else if (is(key, "^B", "left"))
    buffer_.move(buffer_.left());
  else if (is(key, "^F", "right"))
    buffer_.move(buffer_.right());
  else if (is(key, "M-b", "M-left", "C-left"))
    buffer_.move(buffer_.word_left());
  else if (is(key, "M-f", "M-right", "C-right"))
    buffer_.move(buffer_.word_right());
  else if (is(key, "M-up", "C-up") || (is(key, "^P", "up") && !buffer_.move_lines(-1)))
    recall(recalled_ - 1);
  else if (is(key, "M-down", "C-down") || (is(key, "^N", "down") && !buffer_.move_lines(1)))
    recall(recalled_ + 1);
  else
    return is(key, "^P", "up", "^N", "down");
  return true;
}

void EntryEditor::change_by_key(const Key& key) {
  const auto place = buffer_.cursor();
  if (is(key, "^H", "^?"))
    buffer_.replace(buffer_.left(), place, "");
  else if (is(key, "^D", "delete"))
    buffer_.replace(place, buffer_.right(), "");
  else if (is(key, "M-^H", "M-^?"))
    kill(buffer_.word_left(), place);
  else if (is(key, "M-d"))
    kill(place, buffer_.word_right());
  else if (is(key, "^W"))
    kill(buffer_.blank_left(), place);
  else if (is(key, "^U"))
    kill(buffer_.line_begin(place), place);
  else if (is(key, "^K"))  // at the end of a line its end
    kill(place, std::max(buffer_.line_end(place), buffer_.right()));
  else if (is(key, "^Y"))
    buffer_.insert(killed_);
  else if (is(key, "^_"))
    buffer_.undo();
  else if (is(key, "M-^M", "M-^J"))
    buffer_.insert("\n");
}

View EntryEditor::view() const {
  View view{text(), buffer_.cursor(), "", ""};
  if (search_) view.note = (search_->failed ? "not found: " : "search: ") + search_->wanted;
  const auto rest = suggestion();
  const auto line = rest.substr(0, rest.find('\n'));
  view.suggestion = line;
  if (line.size() < rest.size()) view.suggestion += " ...";
  return view;
}

std::string_view EntryEditor::suggestion() const {
  if (!suggests_ || search_ || text().empty() || !buffer_.at_end()) return {};
  return history_.rest_after(text());
}

void EntryEditor::enter() {
  if (helpers_.is_incomplete(text()))
    buffer_.insert("\n");
  else
    action_ = Action::submit;
}

void EntryEditor::complete() {
  // At the beginning of a line TAB indents.
  if (buffer_.before_cursor().find_first_not_of(" \t") == std::string_view::npos)
    return buffer_.insert("  ");
  const auto found = helpers_.complete(std::string_view(text()).substr(0, buffer_.cursor()));
  auto start = common_start(found.candidates);
  if (found.candidates.size() == 1) start += found.ending;
  const auto typed = buffer_.cursor() - found.start;
  if (start.size() > typed) {
    buffer_.insert(start.substr(typed));
  } else if (found.candidates.size() > 1) {
    candidates_ = found.candidates;
    action_ = Action::list;
  }
}

void EntryEditor::kill(std::size_t begin, std::size_t end) {
  const auto part = text().substr(begin, end - begin);
  if (!killed_before_)
    killed_ = part;
  else if (end == buffer_.cursor())
    killed_.insert(0, part);
  else
    killed_ += part;
  kills_ = true;
  buffer_.replace(begin, end, "");
}

void EntryEditor::recall(std::size_t index) {
  const auto& entries = history_.entries();
  if (index > entries.size()) return;  // also before the first one
  if (recalled_ == entries.size()) draft_ = text();
  recalled_ = index;
  buffer_.assign(index < entries.size() ? entries[index] : draft_);
}

bool EntryEditor::take_in_search(const Key& key) {
  auto& search = *search_;
  const auto& entries = history_.entries();
  if (is(key, "")) {
    search.wanted += key.text;
    find(std::min(search.index, entries.size() - 1), -1);
  } else if (is(key, "^?", "^H")) {
    Buffer wanted;
    wanted.insert(search.wanted);
    search.wanted.resize(wanted.left());
    find(entries.size() - 1, -1);
  } else if (is(key, "^R")) {
    find(search.index - 1, -1);
  } else if (is(key, "^S")) {
    find(search.index + 1, 1);
  } else if (is(key, "^G", "^C")) {
    buffer_.assign(search.text);
    buffer_.move(search.cursor);
    search_.reset();
  } else {
    if (recalled_ == entries.size()) draft_ = search.text;
    recalled_ = search.index;
    search_.reset();
    return false;
  }
  return true;
}

void EntryEditor::find(std::size_t index, int step) {
  auto& search = *search_;
  const auto found = history_.find(search.wanted, index, step);
  search.failed = !found;
  if (!found || search.wanted.empty()) return;
  search.index = *found;
  const auto& entry = history_.entries()[*found];
  buffer_.assign(entry);
  buffer_.move(entry.find(search.wanted));
}

}  // namespace pushdown
