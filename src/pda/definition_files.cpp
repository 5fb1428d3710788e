#include "pda/definition_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/options.h"
#include "base/stopping.h"
#include "pda/hint_parts.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 16 << 20;

DefinitionKind other(DefinitionKind kind) {
  return kind == DefinitionKind::grammar ? DefinitionKind::automaton : DefinitionKind::grammar;
}

// Returns whether the name is that of a file, not of a definition in one of the folders.
bool is_path(const std::string& name) {
  if (name.find('/') != name.npos || name.ends_with(".lua")) return true;
  for (const auto kind : {DefinitionKind::grammar, DefinitionKind::automaton})
    for (const auto& [ending, notation] : words_of(kind).endings)
      if (name.ends_with(ending)) return true;
  return false;
}

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns the path from the root on, without dots; does not follow links.
std::string whole_path(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

// Returns the names in a Lua text, except those in comments and strings.
std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  // Returns the end of the long bracket that begins at `at`, or `at` if there is none.
  const auto long_end = [&](std::size_t at) {
    auto last = at + 1;
    while (last < text.size() && text[last] == '=') ++last;
    if (text[at] != '[' || last >= text.size() || text[last] != '[') return at;
    const auto close = "]" + std::string(last - at - 1, '=') + "]";
    const auto found = text.find(close, last + 1);
    return found == text.npos ? text.size() : found + close.size();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.substr(at).starts_with("--")) {
      at += 2;
      if (const auto end = at < text.size() ? long_end(at) : at; end != at)
        at = end;
      else
        at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at)
        if (text[at] == '\\') ++at;
      ++at;
    } else if (const auto end = long_end(at); end != at) {
      at = end;
    } else if (is_name(c)) {
      const auto first = at;
      while (at < text.size() && is_name(text[at])) ++at;
      names.insert(std::string(text.substr(first, at - first)));
    } else {
      ++at;
    }
  }
  return names;
}

enum class FileKind { grammar, synchronous, automaton };

FileKind kind_of_text(std::string_view text) {
  const auto names = names_in(text);
  return names.contains("transition")    ? FileKind::automaton
         : names.contains("synchronous") ? FileKind::synchronous
                                         : FileKind::grammar;
}

std::vector<std::string> names_of(const std::vector<fs::path>& folders, FileKind wanted) {
  std::set<std::string> names;
  std::error_code ignored;
  const StopCheck stop;
  for (const auto& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      stop();
      std::error_code none;
      if (entry.path().extension() != ".lua" || !entry.is_regular_file(none)) continue;
      const bool readable = entry.file_size(none) <= kLargestFile;
      if (kind_of_text(readable ? text_of(entry.path()) : "") == wanted)
        names.insert(entry.path().stem());
    }
  return {names.begin(), names.end()};
}

// Returns whether the file describes an automaton whose parts are hints.
bool has_parts(const fs::path& path) {
  return path.extension() == ".lua" && names_in(text_of(path)).contains("parts");
}

// Returns the first of these files that exists; an empty path if there is none.
fs::path first_file(const std::vector<fs::path>& folders, const std::string& name,
                    const std::vector<const char*>& endings) {
  std::error_code ignored;
  for (const auto& folder : folders)
    for (const auto* ending : endings)
      if (const auto path = folder / (name + ending); fs::is_regular_file(path, ignored))
        return path;
  return {};
}

std::string suggestion(const std::string& name, const std::vector<std::string>& names) {
  const auto near = nearest_names(name, names);
  return near.empty() ? "" : ", did you mean " + near + "?";
}

}  // namespace

const DefinitionWords& words_of(DefinitionKind kind) {
  static const DefinitionWords grammar{"grammar.load",
                                       "grammar",
                                       "grammar",
                                       {{".pcfg", Notation::rules},
                                        {".cfg", Notation::rules},
                                        {".txt", Notation::rules},
                                        {".scfg", Notation::synchronous_rules},
                                        {".itg", Notation::synchronous_rules}}};
  static const DefinitionWords automaton{
      "pda.load",
      "pushdown automaton",
      "automaton",
      {{".pda", Notation::transitions}, {".jff", Notation::jflap}}};
  return kind == DefinitionKind::grammar ? grammar : automaton;
}

std::optional<Notation> notation_of(DefinitionKind kind, const fs::path& path) {
  for (const auto& [ending, notation] : words_of(kind).endings)
    if (path.extension() == ending) return notation;
  return std::nullopt;
}

Notation notation_to_write(std::string_view where, DefinitionKind kind,
                           const std::vector<Notation>& notations, const fs::path& path) {
  const auto is_written = [&](Notation notation) {
    return std::find(notations.begin(), notations.end(), notation) != notations.end();
  };
  const auto notation = notation_of(kind, path);
  if (notation && is_written(*notation)) return *notation;
  std::vector<std::string> endings;
  for (const auto& [ending, of] : words_of(kind).endings)
    if (is_written(of)) endings.emplace_back(ending);
  const auto last = std::exchange(endings.back(), {});
  endings.pop_back();
  fail(where, "expected the name of a file that ends in {} or {}, got '{}'",
       fmt::join(endings, ", "), last, path.string());
}

void wrong_definition(DefinitionKind wanted, const std::string& name) {
  const auto& real = words_of(other(wanted));
  fail(words_of(wanted).load, "'{}' is a {}, not a {}; it is loaded by pd.{}", name, real.noun,
       words_of(wanted).noun, real.load);
}

DefinitionFiles::DefinitionFiles(const fs::path& installation, const fs::path& working)
    : folders_{installation / "grammars", working / "grammars"},
      hint_folders_{installation / "scripts" / "hints", working / "hints"} {}

std::vector<std::string> DefinitionFiles::names(DefinitionKind kind) const {
  if (kind == DefinitionKind::automaton) return names_of(folders_, FileKind::automaton);
  auto names = grammar_names(false);
  const auto more = grammar_names(true);
  names.insert(names.end(), more.begin(), more.end());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> DefinitionFiles::grammar_names(bool synchronous) const {
  return names_of(folders_, synchronous ? FileKind::synchronous : FileKind::grammar);
}

std::vector<std::string> DefinitionFiles::hints() const {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& folder : hint_folders_)
    for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
      const auto ending = entry.path().extension();
      if (ending != ".lua" && ending != ".pda") continue;
      const auto name =
          entry.path().lexically_relative(folder).replace_extension().generic_string();
      if (!has_parts(entry.path()))
        names.insert(name);
      else
        for (const auto& part : hint_parts()) names.insert(name + "/" + part.name);
    }
  return {names.begin(), names.end()};
}

bool DefinitionFiles::is_hint(const fs::path& path) const {
  return std::any_of(hint_folders_.begin(), hint_folders_.end(), [&](const fs::path& folder) {
    return whole_path(path).starts_with(whole_path(folder) + "/");
  });
}

void DefinitionFiles::check_group(DefinitionKind kind, const std::string& name) const {
  if (kind != DefinitionKind::automaton) return;
  std::vector<std::string> inside;
  for (const auto& hint : hints())
    if (hint.starts_with(name + "/")) inside.push_back(hint);
  check(inside.empty(), words_of(kind).load, "'{}' has several hints: {}", name,
        quoted_list(inside));
}

fs::path DefinitionFiles::find_hint(const std::string& name) const {
  if (auto hint = first_file(hint_folders_, name, {".lua", ".pda"});
      !hint.empty() && !has_parts(hint))
    return hint;
  if (hint_part(name) == nullptr) return {};
  const auto whole = first_file(hint_folders_, name.substr(0, name.rfind('/')), {".lua"});
  return !whole.empty() && has_parts(whole) ? whole : fs::path();
}

fs::path DefinitionFiles::find(DefinitionKind kind, const std::string& name) const {
  const auto& words = words_of(kind);
  const bool automaton = kind == DefinitionKind::automaton;
  check(name.find('\n') == name.npos, words.load,
        "expected a name or a path, got a text of several lines; {} reads a text",
        automaton ? "pd.pda.parse" : "pd.grammar.parse");
  if (automaton)
    if (auto hint = find_hint(name); !hint.empty()) return hint;
  // A name with a slash and no ending is a hint that does not exist.
  if (automaton && name.find('/') != name.npos && !fs::path(name).has_extension() &&
      !fs::exists(name)) {
    const auto all = hints();
    fail(words.load, "there is no file or hint '{}'{}; the hints are {}", name,
         suggestion(name, all), quoted_list(all));
  }
  if (is_path(name)) return name;
  if (auto path = first_file(folders_, name, {".lua"}); !path.empty()) return path;
  check_group(kind, name);
  const auto all = names(kind);
  fail(words.load, "there is no {} '{}'{}; there are {}{}", words.noun, name, suggestion(name, all),
       quoted_list(all),
       automaton
           ? ", and the hints of pd.pda.hints(); a file is named with its ending, .lua or .pda"
           : "");
}

std::string read_definition_file(DefinitionKind kind, const fs::path& path) {
  const auto& words = words_of(kind);
  // A .txt may be of either kind.
  if (notation_of(other(kind), path) && path.extension() != ".txt")
    wrong_definition(kind, path.string());
  std::error_code ignored;
  // A pipe or a device might never end.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored) &&
      !fs::is_directory(path, ignored))
    fail_environment(words.load, "'{}' is no file", path.string());
  std::ifstream stream(path, std::ios::binary);
  if (!stream || fs::is_directory(path, ignored))
    fail_environment(words.load, "cannot read the {} file '{}'", words.key, path.string());
  if (const auto size = fs::file_size(path, ignored); size > kLargestFile)
    fail(words.load, "'{}' has {} bytes; a {} file may have {}", path.string(), size, words.key,
         kLargestFile);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) fail_environment(words.load, "cannot read '{}'", path.string());
  return text;
}

}  // namespace pushdown
