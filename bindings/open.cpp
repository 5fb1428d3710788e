// luaopen_pushdown: the function that require 'pushdown' calls, in the shell or in any LuaJIT.
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/thread_start.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/library.h"
#include "bindings/binder/memory_reserve.h"
#include "bindings/binder/options.h"
#include "bindings/binder/registry_keys.h"
#include "bindings/session/live.h"
#include "bindings/session/program_root.h"
#include "bindings/session/state.h"
#include "tensor/blas.h"
#include "tensor/memory.h"

namespace pushdown {

// Each module has a function that adds it to the `pd` table on top of the stack, in this order, and
// leaves the table there.
#define PUSHDOWN_MODULES(L)                                                                      \
  bind_session(L), bind_log(L), bind_tensor(L), bind_grammar(L), bind_pda(L), bind_task(L),      \
      bind_tree(L), bind_stack(L), bind_controller(L), bind_model(L), bind_transducer(L),        \
      bind_rules(L), bind_train(L), bind_record(L), bind_process(L), bind_file(L), bind_text(L), \
      bind_live(L), bind_options(L), bind_server(L)
void PUSHDOWN_MODULES(lua_State* L);

namespace {

namespace fs = std::filesystem;

// __index of a module of scripts/lib, called for a name that it does not have. Upvalue 1:
// 'pd.NAME'.
int unknown_library_field(lua_State* L) {
  return guarded(L, [](lua_State* L) -> int {
    const std::string module = lua_tostring(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING) return 0;
    std::vector<std::string> names;
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TSTRING) names.emplace_back(lua_tostring(L, -2));
    const std::string name = lua_tostring(L, 2);
    const auto near = nearest_names(name, names);
    fail(module, "there is no {}.{}{}", module, name,
         near.empty() ? "" : ", did you mean " + near + "?");
  });
}

// Calls the chunk of a file of scripts/lib. A table that it returns then refuses unknown names.
// Upvalues: 1 the chunk, 2 'pd.NAME'.
int load_library(lua_State* L) {
  return guarded(L, [](lua_State* L) -> int {
    const int count = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    call_lua(L, count, 1);
    if (!lua_istable(L, -1)) return 1;
    if (!lua_getmetatable(L, -1)) {
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_setmetatable(L, -3);
    }
    lua_getfield(L, -1, "__index");
    if (lua_isnil(L, -1)) {
      lua_pushvalue(L, lua_upvalueindex(2));
      lua_pushcclosure(L, unknown_library_field, 1);
      lua_setfield(L, -3, "__index");
    }
    lua_pop(L, 2);
    return 1;
  });
}

// package.loaders entry: 'pushdown.NAME' -> <root>/scripts/lib/NAME.lua.
int search_library(lua_State* L) {
  const char* name = luaL_checkstring(L, 1);
  constexpr std::string_view kPrefix = "pushdown.";
  if (!std::string_view(name).starts_with(kPrefix)) return 0;
  std::string file(name + kPrefix.size());
  std::replace(file.begin(), file.end(), '.', '/');
  const auto path = session(L).root / "scripts" / "lib" / (file + ".lua");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    lua_pushfstring(L, "\n\tno file '%s'", path.c_str());
    return 1;
  }
  if (luaL_loadfile(L, path.c_str()) != 0)
    return luaL_error(L, "error loading module '%s':\n\t%s", name, lua_tostring(L, -1));
  if (file.find('/') != file.npos) return 1;  // a part of a module
  lua_pushliteral(L, "pd.");
  lua_pushstring(L, file.c_str());
  lua_concat(L, 2);
  lua_pushcclosure(L, load_library, 2);
  return 1;
}

// Returns whether scripts/lib has this module.
bool in_library(lua_State* L, const std::string& name) {
  std::error_code ignored;
  const auto file = session(L).root / "scripts" / "lib" / (name + ".lua");
  return name.find_first_of("./") == name.npos && fs::exists(file, ignored);
}

// pd.NAME loads a module of scripts/lib that has not been required yet; any other name is an error.
int library_field(lua_State* L) {
  return guarded(L, [](lua_State* L) -> int {
    if (lua_type(L, 2) != LUA_TSTRING) return 0;
    const std::string name = lua_tostring(L, 2);
    if (in_library(L, name)) {
      push_library(L, ("pushdown." + name).c_str());
      lua_pushvalue(L, 2);
      lua_pushvalue(L, -2);
      lua_rawset(L, 1);
      return 1;
    }
    std::vector<std::string> names;
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) names.push_back(lua_tostring(L, -2));
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(session(L).root / "scripts" / "lib", ignored))
      if (entry.path().extension() == ".lua") names.push_back(entry.path().stem());
    const auto near = nearest_names(name, names);
    fail("pd", "there is no pd.{}{}", name, near.empty() ? "" : ", did you mean " + near + "?");
  });
}

Results docs(lua_State* L) {
  push_docs(L);
  return {1};
}

Results texts(lua_State* L) {
  push_texts(L);
  return {1};
}

Results doc_name(lua_State* L, Any object) {
  push_names(L);
  if (lua_type(L, object.index) == LUA_TUSERDATA && lua_getmetatable(L, object.index)) {
    lua_getfield(L, -1, "__name");
    return {1};
  }
  lua_pushvalue(L, object.index);
  if (lua_isnil(L, -1)) return {1};
  lua_rawget(L, -2);
  return {1};
}

std::variant<std::optional<Json>, std::vector<std::string>> options_listing(
    lua_State* L, const std::optional<std::string>& name) {
  if (!name) return functions_with_options(L);
  if (noted_options(L, *name)) return options_of(L, *name);
  const auto end = name->find('.', 3);
  const auto module = name->starts_with("pd.") && end != name->npos ? name->substr(3, end - 3) : "";
  if (in_library(L, module)) push_library(L, ("pushdown." + module).c_str()), lua_pop(L, 1);
  return options_in_lua(L, *name);
}

void find_progress_listener(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, kProgressKey);
  set_progress_listener(reinterpret_cast<ProgressListener>(lua_touserdata(L, -1)));
  lua_pop(L, 1);
}

void install_searcher(lua_State* L) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaders");
  // Second, after package.preload, so that no file in the user's folders replaces the library by
  // chance.
  for (auto i = static_cast<int>(lua_objlen(L, -1)); i >= 2; --i) {
    lua_rawgeti(L, -1, i);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushcfunction(L, search_library);
  lua_rawseti(L, -2, 2);
  lua_pop(L, 2);
}

int open(lua_State* L) {
  // LibTorch makes a pool of threads before it can be told to use one.
  require_threads(static_cast<int>(std::thread::hardware_concurrency()) - 1);
  at::set_num_threads(1);
  limit_blas_to_one_thread();
  refuse_large_tensors();
  keep_memory_reserve();
  const auto root = program_root(module_folder());
  session(L).root = root;
  lua_pushfstring(L, "@%s/scripts/lib/", root.c_str());
  lua_setfield(L, LUA_REGISTRYINDEX, "pushdown.library");
  install_searcher(L);
  find_interrupt_flag(L);
  find_progress_listener(L);

  lua_newtable(L);
  add_doc(L, "pd", "Stack-augmented neural networks that learn context-free languages.");
  lua_pushliteral(L, PUSHDOWN_VERSION);
  lua_setfield(L, -2, "version");
  lua_pushstring(L, root.c_str());
  lua_setfield(L, -2, "root");
  lua_pushstring(L, (root / "scripts").c_str());
  lua_setfield(L, -2, "scripts");
  Module(L, "pd")
      .def<&docs>(
          "docs() -> table  Returns a table of all documented names with their doc strings.")
      .def<&doc_name>(
          "doc_name(object) -> string  Returns the name in docs() of a function, module or object, "
          "or nil.")
      .def<&texts>(
          "texts() -> table  Returns a list of the functions with an argument that is a name: "
          "tables with the name of the function, `call`, the function itself, and `texts`, a "
          "function that returns the names; if the function describes what has such a name, also "
          "`of` ('a stack') and `option`, the option for it.")
      .def<&options_listing>(
          "options(name) -> table  Returns the options of a function, given by its full name, as a "
          "list of tables with name, type, doc, required, default, choices, minimum, maximum, "
          "`inside`: the options in the table that is its value, unless these depend on a kind, "
          "and `of`: the kinds that have the option, if not all do. Returns nil if the function "
          "has no options. Without a name, returns the names of all functions with options, except "
          "for those in Lua.");
  PUSHDOWN_MODULES(L);

  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "pd");
  lua_pushcclosure(L, library_field, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  return 1;
}

}  // namespace

fs::path module_folder() {
  Dl_info info;
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&module_folder), &info) == 0 || !info.dli_fname)
    return {};
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

}  // namespace pushdown

extern "C" int luaopen_pushdown(lua_State* L) { return pushdown::guarded(L, pushdown::open); }
