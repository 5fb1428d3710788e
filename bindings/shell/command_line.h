// The options of the program `pushdown`.
#pragma once
#include <string>
#include <vector>

#include "bindings/shell/interpreter.h"

namespace pushdown {

struct CommandLine {
  std::vector<std::string> texts;    // -e
  std::vector<std::string> modules;  // -l
  std::vector<std::string> script;   // file and its arguments
  bool only_script = false;          // after --: the file is not a command such as `runs`
  bool prompt = false;               // -i
  bool version = false;              // --version
  bool help = false;                 // --help
  std::string jit;
  int parent = 0;  // --exit-with-parent
  SessionChoices session;
};

// Returns the choices of the command line. Prints what is wrong and ends the program with status 2
// if there are none.
CommandLine parse_command_line(int count, char** words);
// The usage and the options, as --help shows them.
std::string options_text();

}  // namespace pushdown
