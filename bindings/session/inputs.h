// The inputs of a session: every script, grammar, automaton, hint and data file that it has read,
// in the state in which it was read. Run folders record them (scripts/lib/store/provenance.lua).
#pragma once
#include <cstdint>
#include <filesystem>
#include <lua.hpp>
#include <string>
#include <vector>

namespace pushdown {

struct Input {
  std::string role;            // grammar, automaton, hint or data
  std::filesystem::path path;  // absolute
  std::uintmax_t bytes = 0;
  std::string sha256;  // of a file that is read in parts: "" until it is needed
  std::string text;    // "" for a large file
  bool kept = false;   // whether `text` is valid
  std::filesystem::file_time_type written{};  // for a file that is read in parts
};

// Returns the whole file and notes it as an input. Throws std::runtime_error if it cannot be read.
std::string read_input(lua_State* L, const char* role, const std::filesystem::path& path);
// Notes a text that was read from the file.
void note_input(lua_State* L, const char* role, const std::filesystem::path& path,
                const std::string& text);
// Notes files that are about to be read in parts.
void note_input_files(lua_State* L, const char* role,
                      const std::vector<std::filesystem::path>& files);

class Module;
void bind_inputs(Module& module);  // into pd.file

}  // namespace pushdown
