#include "bindings/shell/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string_view>

#include "base/nearest.h"

namespace pushdown {
namespace {

constexpr const char* kUsage = R"(Experiments with stack-augmented neural networks, in Lua.
  pushdown [options] [file [arguments...]]     runs a script, or starts the prompt
  pushdown [options] COMMAND [arguments...]    carries out a command, see below
Without a file and -e, the prompt starts. Words after the file are passed to the script; the file -
is standard input. After -- the next word is the file, also if it begins with - or is the name of a
command.

Options:
)";

struct Option {
  std::string name;
  std::string value;  // how the help text calls its value; empty: it has none
  std::string doc;
  std::string expected;                          // what messages call a valid value
  std::function<bool(const std::string&)> take;  // returns whether the value is valid
};

auto set(bool& flag) {
  return [&flag](const std::string&) { return flag = true; };
}

auto append(std::vector<std::string>& list) {
  return [&list](const std::string& text) { return list.push_back(text), true; };
}

auto match(auto& text, const char* form) {
  return [&text, form](const std::string& value) {
    text = value;
    return std::regex_match(value, std::regex(form));
  };
}

// The number must have all its digits: in another form, such as 2.08e+15, some have often been
// lost.
auto count(auto& number, std::int64_t least, std::int64_t most) {
  return [&number, least, most](const std::string& text) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    number = value;
    return error == std::errc() && stop == end && value >= least && value <= most;
  };
}

std::vector<Option> options_of(CommandLine& line) {
  SessionChoices& session = line.session;
  return {
      {"-e", "TEXT", "Run this Lua text (can be given several times)", "", append(line.texts)},
      {"-l", "MODULE", "Load a module as a global with the last part of its name", "",
       append(line.modules)},
      {"-i", "", "Start the prompt after the file or text", "", set(line.prompt)},
      {"-j", "on|off", "Compile Lua to machine code (default: on for files, off at the prompt)",
       "on or off", match(line.jit, "on|off")},
      {"--device", "cpu|cuda[:n]", "Device on which tensors and models are created",
       "cpu, cuda or cuda:n", match(session.device, "cpu|cuda(:[0-9]{1,3})?")},
      {"--threads", "N", "Threads of the numeric core, 1 to 1024 (default: 1)",
       "an integer from 1 to 1024", count(session.threads, 1, 1024)},
      {"--seed", "N", "Seed for everything that is created without one",
       "an integer from 0 to 2^53 with all its digits",
       count(session.seed, 0, std::int64_t{1} << 53)},
      {"--log-level", "LEVEL",
       "Lowest level that is logged: trace, debug, info, warn, error or off",
       "trace, debug, info, warn, error or off",
       match(session.log_level, "trace|debug|info|warn|error|off")},
      {"--exit-with-parent", "PID", "Exit when the parent process, which must be PID, ends",
       "the number of a process", count(line.parent, 1, std::numeric_limits<int>::max())},
      {"--version", "", "Print the version, the features of the build and the devices, and exit",
       "", set(line.version)},
      {"--help", "", "Print this help and exit (also -h)", "", set(line.help)},
  };
}

const Option& find_option(const std::vector<Option>& options, const std::string& name) {
  const auto option = std::ranges::find(options, name == "-h" ? "--help" : name, &Option::name);
  if (option != options.end()) return *option;
  std::vector<std::string> names;
  for (const auto& valid : options)
    if (valid.name.starts_with("--")) names.push_back(valid.name);
  const auto near = nearest_names(name, names);
  throw std::invalid_argument("unknown option " + name +
                              (near.empty() ? "" : ", did you mean " + near + "?"));
}

// Takes the option that begins at `word`. Returns the word after it.
char** take_option(const std::vector<Option>& options, char** word, char** end) {
  const std::string text = *word++;
  const bool is_long = text[1] == '-';  // --seed=1 and -e1 contain the value
  const std::size_t size = is_long ? std::min(text.find('='), text.size()) : 2;
  const Option& option = find_option(options, text.substr(0, size));
  std::string value;
  if (option.value.empty()) {
    if (size < text.size())
      throw std::invalid_argument("option " + option.name + " takes no value, got '" + text + "'");
  } else if (size < text.size()) {
    value = text.substr(is_long ? size + 1 : size);
  } else if (word < end) {
    value = *word++;
  } else {
    throw std::invalid_argument("option " + option.name + " needs a value, " + option.value);
  }
  if (!option.take(value))
    throw std::invalid_argument("option " + option.name + " must be " + option.expected +
                                ", got '" + value + "'");
  return word;
}

}  // namespace

std::string options_text() {
  CommandLine unused;
  std::string text = kUsage;
  for (const auto& option : options_of(unused))
    text += fmt::format("  {:<25} {}\n", option.name + " " + option.value, option.doc);
  return text + "\n";
}

CommandLine parse_command_line(int count, char** words) {
  CommandLine line;
  const auto options = options_of(line);
  char** word = words + 1;
  char** const end = words + count;
  try {
    while (word < end && !line.help) {
      const std::string_view text = *word;
      line.only_script = text == "--";
      if (line.only_script) ++word;
      if (line.only_script || text.size() < 2 || text[0] != '-') break;
      word = take_option(options, word, end);
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "pushdown: %s; --help lists the options\n", error.what());
    leave(2);
  }
  line.script.assign(word, end);
  return line;
}

}  // namespace pushdown
