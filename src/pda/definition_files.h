// The files that describe grammars and pushdown automata, and where they are. A name means a file
// in the folder grammars of the installation, or of the working directory; a hint, which is a whole
// automaton or a part of one, a file in scripts/hints of the installation, or in hints of the
// working directory. No file is run here.
//
// Errors are std::invalid_argument and read "[grammar.load] ..." or "[pda.load] ...".
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pushdown {

enum class DefinitionKind { grammar, automaton };

// How a file that is not Lua describes its grammar or automaton: grammar/text.h,
// grammar/synchronous_text.h, notation.h and jflap.h.
enum class Notation { rules, synchronous_rules, transitions, jflap };

// The words for a kind in messages: "grammar.load", "grammar" or "pushdown automaton", and the key
// "grammar" or "automaton" of recorded inputs.
struct DefinitionWords {
  const char *load, *noun, *key;
  // The endings of files that are read and written, ".pda", with their notations.
  std::vector<std::pair<const char*, Notation>> endings;
};
const DefinitionWords& words_of(DefinitionKind kind);

// Returns the notation that the ending of a file means, or nothing.
std::optional<Notation> notation_of(DefinitionKind kind, const std::filesystem::path& path);
// Returns the notation of a file to write. Throws an error with the endings of `notations` if the
// ending of the file is none of them.
Notation notation_to_write(std::string_view where, DefinitionKind kind,
                           const std::vector<Notation>& notations,
                           const std::filesystem::path& path);

// Throws that `name` is of the other kind than wanted.
[[noreturn]] void wrong_definition(DefinitionKind wanted, const std::string& name);

class DefinitionFiles {
 public:
  // `working`: the working directory; empty: that of the process.
  explicit DefinitionFiles(const std::filesystem::path& installation,
                           const std::filesystem::path& working = {});

  // Returns the path of a file that a name or path refers to. An automaton may also be a hint,
  // 'an_bn/whole': that file, or a part (hint_parts.h) of the automaton in an_bn.lua. Throws with
  // the names that exist if there is none; a path is not checked.
  std::filesystem::path find(DefinitionKind kind, const std::string& name) const;
  // Returns the sorted names of this kind in both folders. The words that occur in a file determine
  // its kind.
  std::vector<std::string> names(DefinitionKind kind) const;
  // Returns the names of the grammars that are synchronous, or of those that are not.
  std::vector<std::string> grammar_names(bool synchronous) const;
  // Returns the sorted hints of both folders, as find() takes them.
  std::vector<std::string> hints() const;
  bool is_hint(const std::filesystem::path& path) const;
  // Throws with the names of the hints inside if an automaton has the name of a folder of hints, or
  // of a file with several.
  void check_group(DefinitionKind kind, const std::string& name) const;

 private:
  // Returns the file of a hint; an empty path if there is none.
  std::filesystem::path find_hint(const std::string& name) const;

  std::vector<std::filesystem::path> folders_, hint_folders_;
};

// Reads a definition file. Throws for a file in the other kind's notation or of more than 16 MiB,
// and std::runtime_error for one that cannot be read.
std::string read_definition_file(DefinitionKind kind, const std::filesystem::path& path);

}  // namespace pushdown
