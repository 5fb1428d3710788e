#include "bindings/session/inputs.h"

#include <fstream>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/sha256.h"
#include "base/stopping.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/path.h"
#include "bindings/binder/registry_keys.h"
#include "bindings/session/input_path.h"
#include "bindings/session/state.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestText = 1 << 20;  // for data; scripts and grammars are kept whole

void add_input(lua_State* L, Input input) {
  auto& inputs = session(L).inputs;
  for (auto& known : inputs)
    if (known.path == input.path && known.bytes == input.bytes && known.sha256 == input.sha256 &&
        known.written == input.written)
      return;
  inputs.push_back(std::move(input));
}

// Returns "" for files that cannot be read, and for pipes and devices, which can be read once.
std::string sha256_of_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";
  std::ifstream stream(path, std::ios::binary);
  Sha256 hash;
  const StopCheck stop;
  std::string buffer(1 << 20, '\0');
  while (stream) {
    stop();
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(std::string_view(buffer.data(), stream.gcount()));
  }
  if (stream.bad() || !stream.eof()) return "";
  return hash.text();
}

// The digest of a file that is read in parts. It is empty if the file has changed since.
void complete(Input& input) {
  std::error_code error;
  if (!input.sha256.empty() || fs::last_write_time(input.path, error) != input.written || error)
    return;
  const auto digest = sha256_of_file(input.path);
  if (fs::last_write_time(input.path, error) == input.written && !error) input.sha256 = digest;
}

void push_text(lua_State* L, const char* key, const std::string& text) {
  lua_pushlstring(L, text.data(), text.size());
  lua_setfield(L, -2, key);
}

// Appends the rows {role=, path=, text=} of the scripts and entries that the shell keeps.
void push_rows_of_shell(lua_State* L, const char* key, int list) {
  lua_getfield(L, LUA_REGISTRYINDEX, key);
  if (lua_istable(L, -1))
    for (int i = 1, count = static_cast<int>(lua_objlen(L, -1)); i <= count; ++i) {
      lua_rawgeti(L, -1, i);
      lua_getfield(L, -1, "text");
      std::size_t size = 0;
      const char* text = lua_tolstring(L, -1, &size);
      const std::string digest = sha256({text, size});
      lua_pop(L, 1);
      lua_newtable(L);
      for (const char* field : {"role", "path", "text"}) {
        lua_getfield(L, -2, field);
        lua_setfield(L, -2, field);
      }
      push_text(L, "sha256", digest);
      lua_pushnumber(L, static_cast<double>(size));
      lua_setfield(L, -2, "bytes");
      lua_rawseti(L, list, static_cast<int>(lua_objlen(L, list)) + 1);
      lua_pop(L, 1);
    }
  lua_pop(L, 1);
}

Results list_inputs(lua_State* L) {
  lua_newtable(L);
  const int list = lua_gettop(L);
  push_rows_of_shell(L, kScriptsKey, list);
  for (Input& input : session(L).inputs) {
    complete(input);
    lua_newtable(L);
    push_text(L, "role", input.role);
    push_text(L, "path", input.path.string());
    if (!input.sha256.empty()) push_text(L, "sha256", input.sha256);
    if (input.kept) push_text(L, "text", input.text);
    lua_pushnumber(L, static_cast<double>(input.bytes));
    lua_setfield(L, -2, "bytes");
    lua_rawseti(L, list, static_cast<int>(lua_objlen(L, list)) + 1);
  }
  return {1};
}

std::string read_data(lua_State* L, const PathText& path) { return read_input(L, "data", path); }

std::string sha256_of(const PathText& path) {
  const auto digest = sha256_of_file(path);
  if (digest.empty()) fail_environment("file.sha256", "cannot read '{}'", path);
  return digest;
}

std::string sha256_of_text(const std::string& text) { return sha256(text); }

}  // namespace

void note_input(lua_State* L, const char* role, const fs::path& path, const std::string& text) {
  Input input{role, absolute_input(path), text.size(), sha256(text), "", false, {}};
  if (input.role != "data" || text.size() <= kLargestText) input.text = text, input.kept = true;
  add_input(L, std::move(input));
}

std::string read_input(lua_State* L, const char* role, const fs::path& path) {
  std::string text = read_stream(input_path(path));
  note_input(L, role, path, text);
  return text;
}

void note_input_files(lua_State* L, const char* role, const std::vector<fs::path>& files) {
  for (const auto& file : files) {
    std::error_code error;
    Input input{role, absolute_input(file), fs::file_size(file, error), "", "", false, {}};
    if (!error) input.written = fs::last_write_time(file, error);
    if (!error) add_input(L, std::move(input));
  }
}

void bind_inputs(Module& module) {
  module
      .def<&list_inputs>(
          "inputs() -> table  Returns the files that the program has read so far: scripts, "
          "grammars, automata, hints and data. Each is a table {role=, path=, bytes=, sha256=, "
          "text=}. Data of more than 1 MiB have no text. A file that has changed since has no "
          "sha256.")
      .def<&read_data>(
          "input(path) -> string  Returns the whole file and records it as an input of all later "
          "runs of the program.")
      .def<&sha256_of>("sha256(path) -> string  Returns the SHA-256 of a file in hexadecimal.")
      .def<&sha256_of_text>(
          "sha256_of_text(text) -> string  Returns the SHA-256 of a text in hexadecimal.");
}

}  // namespace pushdown
