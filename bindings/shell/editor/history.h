// Earlier entries, and the file that keeps them for later sessions.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

// Other prompts also add to the file, one at a time, each after what the others have written. If
// another process holds the lock, the entries wait for the next one, so that the prompt does not. A
// full disk does not lose earlier entries. The format is that of libedit.
class History {
 public:
  // Reads the file; without one ("") entries are kept until the program ends.
  explicit History(std::string path);
  // Other prompts hold the lock for milliseconds. A process that holds it for longer costs the
  // entries that wait.
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  void add(const std::string& entry);
  const std::vector<std::string>& entries() const { return entries_; }  // the oldest first
  // Returns the rest of the newest entry that begins with this text, or "".
  std::string_view rest_after(std::string_view text) const;
  // Returns the first entry from `index` on that contains the text. The step is 1, or -1 for older
  // ones.
  std::optional<std::size_t> find(std::string_view text, std::size_t index, int step) const;

 private:
  // Returns false if another process holds the lock.
  bool save();
  void write();

  const std::string path_;
  std::vector<std::string> entries_, waiting_;
};

// $XDG_STATE_HOME/pushdown/history, whose folder is made if possible, or "" if there is no place
// for it.
std::string history_path();

}  // namespace pushdown
