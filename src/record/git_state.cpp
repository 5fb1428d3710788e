#include "record/git_state.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/check.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

struct Repository {
  Path top;     // of the files
  Path own;     // the git folder, with HEAD and the index of these files
  Path common;  // the git folder of all working trees, with the objects
};

// Returns the first line of a small file, or "".
std::string first_line(const Path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";
  std::string text(4096, '\0');
  std::ifstream file(path);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(file.gcount());
  return text.substr(0, text.find('\n'));
}

// Like git, this search does not leave the file system.
std::optional<Repository> repository_around(const Path& folder) {
  constexpr std::string_view kLink = "gitdir: ";
  const auto device = [](const Path& path) {
    struct stat facts = {};
    return ::stat(path.c_str(), &facts) == 0 ? std::optional(facts.st_dev) : std::nullopt;
  };
  std::error_code ignored;
  const auto first = fs::canonical(folder, ignored);
  if (first.empty()) return std::nullopt;
  for (Path top = first; device(top) == device(first); top = top.parent_path()) {
    const auto link = first_line(top / ".git");
    const Path own = top / (link.starts_with(kLink) ? link.substr(kLink.size()) : ".git");
    if (!first_line(own / "HEAD").empty())
      return Repository{top, own, own / first_line(own / "commondir")};
    if (top == top.root_path()) break;
  }
  return std::nullopt;
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string command_output(const std::string& command) {
  std::string output;
  if (FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r")) {
    char buffer[4096];
    while (const auto count = std::fread(buffer, 1, sizeof buffer, pipe))
      output.append(buffer, count);
    if (::pclose(pipe) != 0) return "";
  }
  return output;
}

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "pushdown-git-XXXXXX").string();
    if (!::mkdtemp(name.data())) fail_environment("git", "cannot make the folder '{}'", name);
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);  // removes links, not their targets
  }

  Path path;
};

// A repository as git sees it here: its data, without its configuration.
class RepositoryView {
 public:
  explicit RepositoryView(const Repository& repository) : repository_(repository) {
    write("HEAD", first_line(repository.own / "HEAD") + "\n");
    for (const char* name : {"objects", "refs", "packed-refs", "shallow", "reftable"})
      link(repository.common / name);
    for (const auto& entry : fs::directory_iterator(repository.own)) {
      const auto name = entry.path().filename().string();
      if (name == "index" || name.starts_with("sharedindex.")) link(entry.path());
    }
    write("config", settings());
  }

  // Returns the output of a git command, or "" if it failed.
  std::string git(const std::string& arguments) const {
    std::string command = "env";
    for (char** entry = environ; *entry; ++entry) {
      const std::string_view variable(*entry);
      if (variable.starts_with("GIT_"))
        command += " -u " + shell_word(variable.substr(0, variable.find('=')));
    }
    command += " GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0";
    for (const char* variable : {"GIT_DIR", "HOME", "XDG_CONFIG_HOME"})
      command += std::string(" ") + variable + "=" + shell_word(folder_.path.string());
    const auto top = shell_word(repository_.top.string());
    return command_output(command + " GIT_WORK_TREE=" + top + " git -C " + top + " " + arguments);
  }

 private:
  // Other kinds of files, such as pipes, could block git.
  void link(const Path& target) const {
    std::error_code ignored;
    if (fs::is_regular_file(target, ignored) || fs::is_directory(target, ignored))
      fs::create_symlink(fs::canonical(target), folder_.path / target.filename());
  }

  void write(const char* name, const std::string& text) const {
    std::ofstream file;
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.open(folder_.path / name);
    file << text << std::flush;
  }

  // The settings of the repository that say how it stores files, as a file of settings.
  std::string settings() const {
    std::string text = "[core]\nrepositoryformatversion = 1\n";
    std::error_code ignored;
    const Path file = repository_.common / "config";
    if (!fs::is_regular_file(file, ignored)) return text;
    std::istringstream found(git("config --file " + shell_word(file.string()) +
                                 " --no-includes --null --get-regexp "
                                 "'^(core\\.(filemode|symlinks|ignorecase|autocrlf|eol)|"
                                 "extensions\\.(objectformat|refstorage))$'"));
    for (std::string entry; std::getline(found, entry, '\0');) {
      const auto dot = entry.find('.'), end = std::min(entry.find('\n'), entry.size());
      const auto value = end < entry.size() ? entry.substr(end + 1) : "true";
      if (std::all_of(value.begin(), value.end(), [](unsigned char c) { return std::isalnum(c); }))
        text += "[" + entry.substr(0, dot) + "]\n" + entry.substr(dot + 1, end - dot - 1) + " = " +
                value + "\n";
    }
    return text;
  }

  Repository repository_;
  TemporaryFolder folder_;
};

Json state_of(const Repository& repository) {
  const RepositoryView view(repository);
  std::istringstream status(
      view.git("status --porcelain=v2 --branch --untracked-files=no --ignore-submodules=all "
               "--no-renames"));
  constexpr std::string_view kCommit = "# branch.oid ", kBranch = "# branch.head ";
  std::string commit, branch;
  bool dirty = false;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kCommit))
      commit = line.substr(kCommit.size());
    else if (line.starts_with(kBranch))
      branch = line.substr(kBranch.size());
    else if (!line.starts_with('#'))
      dirty = true;
  }
  if (commit.empty() || commit == "(initial)") return nullptr;
  // Without --dirty, which looks into submodules.
  std::string description = view.git("describe --always --abbrev=12");
  description = description.substr(0, description.find('\n')) + (dirty ? "-dirty" : "");
  return {{"commit", commit},
          {"branch", branch == "(detached)" ? "HEAD" : branch},
          {"dirty", dirty},
          {"description", description}};
}

}  // namespace

Json git_state(const Path& folder) {
  const auto repository = repository_around(folder);
  if (!repository) return nullptr;
  try {
    return state_of(*repository);
  } catch (const std::runtime_error&) {  // a full disk does not prevent a run
    return nullptr;
  }
}

}  // namespace pushdown
