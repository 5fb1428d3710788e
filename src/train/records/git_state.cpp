#include "train/records/git_state.h"

#include <cstdio>
#include <sstream>

namespace pushdown {
namespace {

std::string command_output(const std::string& command) {
  std::string output;
  if (FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r")) {
    char buffer[4096];
    while (const auto count = std::fread(buffer, 1, sizeof buffer, pipe))
      output.append(buffer, count);
    if (::pclose(pipe) != 0) return "";
  }
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

}  // namespace

Json git_state(const Path& folder) {
  const auto quoted = [](std::string_view text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
  };
  // A repository's configuration can name programs that `git status` runs: a file system monitor,
  // content filters, and the transport that fetches missing objects.
  const std::string safe =
      "GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none GIT_OPTIONAL_LOCKS=0 git -C " +
      quoted(folder.string()) + " -c core.fsmonitor=false";
  const std::string commit = command_output(safe + " rev-parse HEAD");
  if (commit.empty()) return nullptr;
  std::string status = safe;
  const std::string filters = command_output(
      safe + " config --name-only --get-regexp '^filter\\..*\\.(clean|smudge|process|required)$'");
  std::istringstream names(filters);
  for (std::string name; std::getline(names, name);)
    status += " -c " + quoted(name + (name.ends_with(".required") ? "=false" : "="));
  status += " status --porcelain --untracked-files=no --ignore-submodules=all";
  return {{"commit", commit},
          {"branch", command_output(safe + " rev-parse --abbrev-ref HEAD")},
          {"dirty", !command_output(status).empty()}};
}

}  // namespace pushdown
