#include "bindings/shell/editor/history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 5000;
constexpr std::string_view kHeader = "_HiStOrY_V2_";

// Blanks, ends of lines and control characters are `\` and three octal digits, and `\` is `\\`.
std::string encoded(std::string_view entry) {
  std::string line;
  for (const char c : entry) {
    char number[8] = "\\\\";
    if (c != '\\') std::snprintf(number, sizeof number, "\\%03o", static_cast<unsigned>(c) & 0xFF);
    if (c == '\\' || (c >= 0 && c <= ' ') || c == 127)
      line += number;
    else
      line += c;
  }
  return line;
}

// Also reads `\^A`, which libedit writes for a control character.
std::string decoded(std::string_view line) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto rest = line.substr(i);
    if (rest[0] != '\\' || rest.size() == 1) {
      entry += rest[0];
    } else if (rest.size() > 3 && std::all_of(rest.begin() + 1, rest.begin() + 4, is_octal)) {
      entry += static_cast<char>((rest[1] - '0') * 64 + (rest[2] - '0') * 8 + rest[3] - '0');
      i += 3;
    } else {
      const bool control = rest[1] == '^' && rest.size() > 2;
      entry += static_cast<char>(control ? rest[2] ^ '@' : rest[1]);
      i += control ? 2 : 1;
    }
  }
  return entry;
}

void append(std::vector<std::string>& entries, std::string entry) {
  if (!entries.empty() && entries.back() == entry) return;
  entries.push_back(std::move(entry));
  if (entries.size() > kMostEntries) entries.erase(entries.begin());
}

std::vector<std::string> read_entries(const std::string& path) {
  std::vector<std::string> entries;
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line != kHeader) return entries;
  while (std::getline(file, line)) append(entries, decoded(line));
  return entries;
}

}  // namespace

std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (state && *state == '/')
    folder = state;
  else if (home && *home == '/')
    folder = fs::path(home) / ".local" / "state";
  else
    return "";
  std::error_code error;
  fs::create_directories(folder / "pushdown", error);
  fs::path file = folder / "pushdown" / "history";
  for (int links = 0; !error && links < 40 && fs::is_symlink(file, error); ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  const auto type = fs::status(file, error).type();
  // A link to /dev/null, say, asks for no history.
  const bool usable = type == fs::file_type::regular || type == fs::file_type::not_found;
  return usable ? file.string() : "";
}

History::History(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) entries_ = read_entries(path_);
}

History::~History() {
  for (int tries = 0; tries < 100 && !waiting_.empty() && !save(); ++tries) ::usleep(10000);
}

void History::add(const std::string& entry) {
  append(entries_, entry);
  if (path_.empty()) return;
  waiting_.push_back(entry);
  save();
}

bool History::save() {
  const int lock = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return true;
  // Not every file system has locks.
  const bool busy = ::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!busy) write();
  ::close(lock);
  return !busy;
}

void History::write() {
  auto all = read_entries(path_);
  for (auto& entry : waiting_) append(all, std::move(entry));
  waiting_.clear();
  std::string text(kHeader);
  for (const auto& entry : all) text += "\n" + encoded(entry);
  text += "\n";
  const std::string made = path_ + ".tmp";
  std::FILE* file = std::fopen(made.c_str(), "we");
  if (!file) return;
  bool whole = ::fchmod(::fileno(file), 0600) == 0 &&
               std::fwrite(text.data(), 1, text.size(), file) == text.size();
  whole = std::fclose(file) == 0 && whole;
  if (!whole || std::rename(made.c_str(), path_.c_str()) != 0) ::unlink(made.c_str());
}

std::string_view History::rest_after(std::string_view text) const {
  for (auto i = entries_.size(); i-- > 0;)
    if (entries_[i].size() > text.size() && entries_[i].starts_with(text))
      return std::string_view(entries_[i]).substr(text.size());
  return {};
}

std::optional<std::size_t> History::find(std::string_view text, std::size_t index, int step) const {
  for (; index < entries_.size(); index += step)
    if (entries_[index].find(text) != std::string::npos) return index;
  return {};
}

}  // namespace pushdown
