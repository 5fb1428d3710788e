#include "bindings/session/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/check.h"
#include "base/notices.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/text.h"
#include "bindings/session/live.h"
#include "bindings/session/terminal.h"

namespace pushdown {
namespace {

constexpr const char* kPattern = "%Y-%m-%d %H:%M:%S.%e %^%-7l%$ %v";

// Breaks lines at words to the current width of the terminal on stderr. Without a terminal they
// stay whole.
class TerminalFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto before = out.size();
    pattern_.format(message, out);
    const int columns = terminal_columns(STDERR_FILENO);
    if (columns == 0) return;
    const std::string text(out.data() + before, out.size() - before);
    out.resize(before);
    const auto lines = wrapped(text, columns, kIndent);
    out.append(lines.data(), lines.data() + lines.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<TerminalFormatter>();
  }

 private:
  static constexpr std::size_t kIndent = 4;  // of the lines after the first
  spdlog::pattern_formatter pattern_{kPattern};
};

// The sinks that a process writes to. File sinks exist as long as their handles.
struct Loggers {
  Loggers() : console(std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    if (std::getenv("NO_COLOR")) console->set_color_mode(spdlog::color_mode::never);
    logger = std::make_shared<spdlog::logger>("pushdown", console);
    console->set_formatter(std::make_unique<TerminalFormatter>());
    logger->set_level(spdlog::level::info);
    logger->flush_on(spdlog::level::trace);
  }
  std::shared_ptr<spdlog::sinks::stderr_color_sink_mt> console;
  std::shared_ptr<spdlog::logger> logger;
};

Loggers& the_log() {
  static Loggers log;
  return log;
}

spdlog::level::level_enum parse_level(const std::string& name) {
  if (name == "warn") return spdlog::level::warn;
  if (name == "error") return spdlog::level::err;
  const auto level = spdlog::level::from_str(name);
  check(level != spdlog::level::off || name == "off", "log",
        "the level must be 'trace', 'debug', 'info', 'warn', 'error' or 'off', got '{}'", name);
  return level;
}

// All arguments as print() shows them, but separated by single blanks.
std::string joined(const Rest& rest) {
  std::string text;
  for (int i = rest.first; i < rest.first + rest.count; ++i) {
    lua_getglobal(rest.state, "tostring");
    lua_pushvalue(rest.state, i);
    call_lua(rest.state, 1, 1);
    std::size_t size = 0;
    const char* part = lua_tolstring(rest.state, -1, &size);
    if (i > rest.first) text += ' ';
    if (part) text.append(part, size);
    lua_pop(rest.state, 1);
  }
  return text;
}

void debug(Rest rest) { log_message("debug", joined(rest)); }
void info(Rest rest) { log_message("info", joined(rest)); }
void warn(Rest rest) { log_message("warn", joined(rest)); }
void error(Rest rest) { log_message("error", joined(rest)); }

// After Ctrl-C no more Lua code runs, so this function logs the text.
Results if_interrupted(lua_State* L, const std::string& text, Any action) {
  lua_pushvalue(L, action.index);
  if (try_lua(L, 0, 0)) return {0};
  if (interrupt_check(L)()) log_message("info", text);
  lua_error(L);
  return {0};
}

}  // namespace

void set_log_level(const std::string& name) { the_log().logger->set_level(parse_level(name)); }

std::string log_level() {
  const auto level = the_log().logger->level();
  if (level == spdlog::level::warn) return "warn";
  const auto name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

namespace {

void log_everywhere(const std::string& level, const std::string& message) {
  // The file and the terminal get the same text.
  the_log().logger->log(parse_level(level), spdlog::string_view_t(without_controls(message)));
}

}  // namespace

void log_message(const std::string& level, const std::string& message) {
  if (!is_logged(level)) return;
  const LiveView::Hidden hidden;
  log_everywhere(level, message);
}

void log_to_files(const std::string& level, const std::string& message) {
  auto& console = *the_log().console;
  console.set_level(spdlog::level::off);
  const std::shared_ptr<void> again(nullptr,
                                    [&](void*) { console.set_level(spdlog::level::trace); });
  log_everywhere(level, message);
}

bool is_logged(const std::string& level) {
  return the_log().logger->should_log(parse_level(level));
}

std::shared_ptr<void> add_log_file(const std::string& path) {
  spdlog::sink_ptr sink;
  try {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, false);
  } catch (const spdlog::spdlog_ex& error) {
    fail_environment("log", "cannot write the log file '{}': {}", path, error.what());
  }
  sink->set_pattern(kPattern);
  the_log().logger->sinks().push_back(sink);
  return std::shared_ptr<void>(sink.get(), [sink](void*) {
    auto& sinks = the_log().logger->sinks();
    std::erase(sinks, sink);
  });
}

void bind_log(lua_State* L) {
  set_notice_receiver([](NoticeLevel level, const std::string& message) {
    log_message(level == NoticeLevel::warning ? "warn" : "info", message);
  });
  Module log(L, "log", "Messages to stderr and to the log file of a running experiment.");
  log.def<&debug>("debug(...)  Logs the arguments, joined by blanks, at level debug.")
      .def<&info>("info(...)  Logs the arguments, joined by blanks, at level info.")
      .def<&warn>("warn(...)  Logs the arguments, joined by blanks, at level warn.")
      .def<&error>("error(...)  Logs the arguments, joined by blanks, at level error.")
      .def<&set_log_level>(
          "set_level(name)  Sets the lowest level of messages that are shown: 'trace', 'debug', "
          "'info', 'warn', 'error' or 'off'.")
      .def<&log_level>("level() -> string  Returns the lowest level of messages that are shown.")
      .def<&if_interrupted>(
          "if_interrupted(text, action)  Calls action(). If Ctrl-C ends it, logs the text, for "
          "example how to go on.");
}

}  // namespace pushdown
