#include "bindings/notebook/kernel.h"

#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <utility>
#include <xeus/xhelper.hpp>

#include "bindings/binder/registry_keys.h"
#include "bindings/shell/completion.h"
#include "bindings/shell/entry.h"
#include "bindings/shell/show.h"

namespace pushdown {
namespace {

using Status = Interpreter::Status;

constexpr const char* kNotebookKey = "pushdown.notebook";

Notebook* the_notebook = nullptr;  // shows the progress of trainings, which know no Lua state

// Lets SIGINT through during its lifetime, but none that came before. Elsewhere SIGINT would end a
// call of the message library, which treats that as a failure.
class AllowInterrupts {
 public:
  AllowInterrupts() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    const timespec at_once = {};
    while (sigtimedwait(&signals_, nullptr, &at_once) == SIGINT) {
    }
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }
  ~AllowInterrupts() { pthread_sigmask(SIG_BLOCK, &signals_, nullptr); }
  AllowInterrupts(const AllowInterrupts&) = delete;
  AllowInterrupts& operator=(const AllowInterrupts&) = delete;

 private:
  sigset_t signals_;
};

Notebook* notebook_of(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, kNotebookKey);
  auto* self = static_cast<Notebook*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return self;
}

// Positions in the protocol count characters, ours count bytes.
std::size_t byte_of(std::string_view text, int characters) {
  std::size_t byte = 0;
  for (; byte < text.size(); ++byte)
    if ((text[byte] & 0xC0) != 0x80 && characters-- == 0) break;
  return byte;
}
int character_of(std::string_view text, std::size_t byte) {
  int characters = 0;
  for (std::size_t i = 0; i < byte && i < text.size(); ++i)
    if ((text[i] & 0xC0) != 0x80) ++characters;
  return characters;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

Notebook::Notebook()
    : interpreter_({}), capture_([this](const char* stream, const std::string& text) {
        const std::lock_guard lock(publishing_);
        publish_stream(stream, text);
      }) {
  xeus::register_interpreter(this);
  interpreter_.set_jit(false);
  interpreter_.core().start();
  lua_State* L = interpreter_.state();
  lua_pushlightuserdata(L, this);
  lua_setfield(L, LUA_REGISTRYINDEX, kNotebookKey);
  the_notebook = this;
  const ProgressListener listener = [](const char* text) { the_notebook->show_progress(text); };
  lua_pushlightuserdata(L, reinterpret_cast<void*>(listener));
  lua_setfield(L, LUA_REGISTRYINDEX, kProgressKey);
  lua_pushcfunction(L, display);
  lua_setglobal(L, "display");
  interpreter_.run_text(
      "rawset(os, 'exit', function() error('os.exit would end the notebook: shut the kernel down "
      "instead', 2) end)",
      "=notebook");
}

// Moves the table {type = text} on top of the stack into `data`.
static void take_bundle(lua_State* L, nlohmann::json& data) {
  for (lua_pushnil(L); lua_istable(L, -2) && lua_next(L, -2) != 0; lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING && lua_isstring(L, -1))
      data[lua_tostring(L, -2)] = lua_tostring(L, -1);
}

nlohmann::json Notebook::bundle(lua_State* L) {
  Json data;
  const int count = lua_gettop(L);
  data["text/plain"] = show_values(L);
  if (count == 1) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "pushdown.notebook");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "bundle");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    take_bundle(L, data);
    lua_settop(L, count);
  }
  return data;
}

int Notebook::print_result(lua_State* L) {
  keep_values(L);
  if (lua_gettop(L) == 0) return 0;
  notebook_of(L)->result_ = bundle(L);
  return 0;
}

// display(value) and display(text, 'text/html') show a value immediately, as a cell shows its value
// at its end.
int Notebook::display(lua_State* L) {
  luaL_checkany(L, 1);
  Json data;
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    data = bundle(L);
  } else {
    data[luaL_checkstring(L, 2)] = luaL_checkstring(L, 1);
  }
  auto* self = notebook_of(L);
  const std::lock_guard lock(self->publishing_);
  self->display_data(std::move(data), Json::object(), Json::object());
  return 0;
}

Interpreter::Outcome Notebook::run_cell(const std::string& code) {
  Interpreter::Outcome outcome;
  for (const auto& text : entries_of(interpreter_, code)) {
    // The value of the last entry is the result of the cell.
    if (!result_.is_null()) {
      const std::lock_guard lock(publishing_);
      display_data(std::exchange(result_, nullptr), Json::object(), Json::object());
    }
    outcome = run_one(text);
    if (outcome.status != Status::ok) break;
  }
  return outcome;
}

Interpreter::Outcome Notebook::run_one(const std::string& code) {
  if (trimmed(code).empty()) return {};
  const AllowInterrupts allowed;
  const auto taken = take_entry(interpreter_, code, print_result, true, [] {});
  if (taken.leaves) return {Status::error, "to leave a notebook, shut its kernel down"};
  return taken.outcome;
}

void Notebook::show_progress(const std::string& text) {
  const Json data{{"text/plain", text}};
  const Json place{
      {"display_id", "pushdown " + std::to_string(getpid()) + " cell " + std::to_string(cell_)}};
  const std::lock_guard lock(publishing_);
  if (std::exchange(progress_shown_, true))
    update_display_data(data, Json::object(), place);
  else
    display_data(data, Json::object(), place);
}

#if XEUS_VERSION_MAJOR >= 5
void Notebook::execute_request_impl(send_reply_callback reply, int count, const std::string& code,
                                    xeus::execute_request_config config, Json) {
  reply(execute(count, code, config.silent));
}
#else
nlohmann::json Notebook::execute_request_impl(int count, const std::string& code, bool silent, bool,
                                              Json, bool) {
  return execute(count, code, silent);
}
#endif

nlohmann::json Notebook::execute(int count, const std::string& code, bool silent) {
  result_ = nullptr;
  ++cell_;
  progress_shown_ = false;
  if (output_) std::cout.rdbuf(std::exchange(output_, nullptr));
  if (log_) std::clog.rdbuf(std::exchange(log_, nullptr));
  capture_.start();
  auto outcome = run_cell(code);
  capture_.stop();
  if (outcome.status == Status::ok) {
    if (!result_.is_null() && !silent)
      publish_execution_result(count, std::move(result_), Json::object());
    return xeus::create_successful_reply();
  }
  const bool stopped = outcome.status == Status::interrupted;
  const std::string name = stopped ? "Interrupted" : "Error";
  const auto message = interpreter_.with_suggestion(outcome.error);
  auto lines = lines_of(message);
  if (stopped) lines.resize(1);
  if (!silent) publish_execution_error(name, lines.front(), lines);
  // Does not use create_error_reply, because the order of its arguments differs between versions.
  return {{"status", "error"}, {"ename", name}, {"evalue", lines.front()}, {"traceback", lines}};
}

nlohmann::json Notebook::complete_request_impl(const std::string& code, int cursor) {
  const std::string text = code.substr(0, byte_of(code, cursor));
  auto found = complete(interpreter_.state(), text);
  if (found.candidates.size() == 1) found.candidates.front() += found.ending;
  return xeus::create_complete_reply(found.candidates, character_of(text, found.start), cursor);
}

nlohmann::json Notebook::inspect_request_impl(const std::string& code, int cursor, int) {
  lua_State* L = interpreter_.state();
  const int top = lua_gettop(L);
  Json data;
  if (interpreter_.compile("return require('pushdown.notebook').inspect(...)", "=notebook")
          .status == Status::ok) {
    lua_pushlstring(L, code.data(), code.size());
    lua_pushinteger(L, static_cast<lua_Integer>(byte_of(code, cursor)));
    if (interpreter_.call(2, 1).status == Status::ok && lua_isstring(L, -1))
      data["text/plain"] = lua_tostring(L, -1);
  }
  lua_settop(L, top);
  const bool found = !data.is_null();
  return xeus::create_inspect_reply(found, found ? data : Json::object(), Json::object());
}

nlohmann::json Notebook::is_complete_request_impl(const std::string& code) {
  try {
    bool incomplete = false;
    auto entry = read_entry(interpreter_.state(), entries_of(interpreter_, code).back());
    const auto outcome = compile_entry(interpreter_, entry, incomplete);
    lua_settop(interpreter_.state(), 0);
    if (outcome.status == Status::ok) return xeus::create_is_complete_reply("complete");
    return xeus::create_is_complete_reply(incomplete ? "incomplete" : "invalid");
  } catch (const std::invalid_argument&) {
    return xeus::create_is_complete_reply("invalid");
  }
}

nlohmann::json Notebook::kernel_info_request_impl() {
  return xeus::create_info_reply("5.3", "pushdown", PUSHDOWN_VERSION, "lua", "5.1", "text/x-lua",
                                 ".lua", "lua", "lua", "", "Pushdown " PUSHDOWN_VERSION);
}

}  // namespace pushdown
