// The inputs of a session: every script, grammar, automaton, hint and file of data that was read
// since it began, as it was when it was read. Run folders record them (scripts/lib/provenance.lua).
#pragma once
#include <cstdint>
#include <filesystem>
#include <lua.hpp>
#include <string>
#include <vector>

namespace pushdown {

struct Input {
  std::string role;            // grammar, automaton, hint or data
  std::filesystem::path path;  // from the root on
  std::uintmax_t bytes = 0;
  std::string sha256;  // "" until it is asked for, of a file that is read in parts
  std::string text;    // "" of a large file
  bool kept = false;   // whether the text is there
  std::filesystem::file_time_type written{};  // of a file that is read in parts
};

// The whole file, noted as an input. One that cannot be read is a std::runtime_error.
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
