// The state of repositories, compared with git's own words, and repositories that name programs.
#include "record/git_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/scratch.h"

namespace pushdown::git_state_test {
namespace {

namespace fs = std::filesystem;
using testing_support::Scratch;

class GitState : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
  }

  // Runs commands in the scratch folder. Git has no settings but these.
  void shell(const std::string& commands) const {
    const std::string whole =
        "cd '" + scratch_.path().string() + "' && export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 && " +
        "git() { command git -c user.name=a -c user.email=b -c protocol.file.allow=always "
        "-c init.defaultBranch=main \"$@\"; } && { " +
        commands + "\n} > output 2> errors";
    ASSERT_EQ(std::system(whole.c_str()), 0) << commands << "\n" << read_file(scratch_ / "errors");
  }

  std::string said(const std::string& commands) const {
    shell(commands);
    auto text = read_file(scratch_ / "output");
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  // Makes a repository with a commit in the folder `r`.
  void make_repository(const char* options = "") const {
    shell(
        fmt::format("git init -q {} r && cd r && mkdir sub && echo a > a.txt && echo b > sub/b.txt "
                    "&& git add . "
                    "&& git commit -q -m first",
                    options));
  }

  // Compares the state of a folder with git's own words.
  void expect_as_git_says(const std::string& folder, bool dirty) const {
    const auto git = [&](const std::string& words) { return said("git -C " + folder + words); };
    const Json state = git_state(scratch_ / folder);
    ASSERT_FALSE(state.is_null());
    EXPECT_EQ(state["commit"], git(" rev-parse HEAD"));
    EXPECT_EQ(state["branch"], git(" rev-parse --abbrev-ref HEAD"));
    EXPECT_EQ(state["dirty"], dirty);
    EXPECT_EQ(state["description"], git(" describe --always --dirty --abbrev=12"));
  }

  Scratch scratch_;
};

TEST_F(GitState, IsNullOutsideARepositoryAndBeforeTheFirstCommit) {
  EXPECT_TRUE(git_state(scratch_.path()).is_null());
  EXPECT_TRUE(git_state(scratch_ / "missing").is_null());
  shell("git init -q r");
  EXPECT_TRUE(git_state(scratch_ / "r").is_null());
}

TEST_F(GitState, IsThatOfGit) {
  const struct {
    const char* commands;
    bool dirty;
    const char* folder = "r";
  } cases[] = {
      {"true", false},
      {"true", false, "r/sub"},
      {"touch new.txt", false},
      {"echo c > a.txt", true},
      {"rm sub/b.txt", true},
      {"chmod +x a.txt", true},
      {"git config core.fileMode false && chmod +x a.txt", false},
      {"echo c > c.txt && git add c.txt", true},
      {"touch -d 2001-01-01 a.txt", false},
      {"git config core.autocrlf true && printf 'a\\r\\n' > a.txt && git add a.txt && touch -d "
       "2001-01-01 "
       "a.txt",
       false},
      {"git checkout -q --detach", false},
      {"git checkout -q -b topic/one", false},
      {"git tag -a -m t v1 && git commit -q --allow-empty -m second", false},
      {"git tag -a -m t v1 && git pack-refs --all && git gc -q && echo c > a.txt", true},
      {"git update-index --split-index && echo c > c.txt && git add c.txt && git commit -qm c",
       false},
      {"git sparse-checkout set --cone --sparse-index && ! test -e sub", false},
      {"git worktree add -q ../other && echo c > ../other/a.txt", true, "other"},
      {"git worktree add -q ../other && echo c > ../other/a.txt", false},
      {"git clone -q --shared . ../other", false, "other"},
      {"git commit -q --allow-empty -m second && git clone -q --depth 1 file://$PWD ../other",
       false, "other"},
      {"git submodule --quiet add ./. module && git commit -q -m module", false, "r/module"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.commands);
    shell("rm -rf r other");
    make_repository();
    shell(std::string("cd r && ") + one.commands);
    expect_as_git_says(one.folder, one.dirty);
  }
}

TEST_F(GitState, ReadsOtherHashes) {
  make_repository("--object-format=sha256");
  expect_as_git_says("r", false);
  EXPECT_EQ(git_state(scratch_ / "r")["commit"].get<std::string>().size(), 64u);
}

TEST_F(GitState, IgnoresTheEnvironmentOfAHookAndLeavesNothing) {
  make_repository();
  const Json expected = git_state(scratch_ / "r");
  shell("mkdir temporary");
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", (scratch_ / "temporary").c_str(), 1);
  ::setenv("GIT_DIR", (scratch_ / "elsewhere").c_str(), 1);
  ::setenv("GIT_INDEX_FILE", "elsewhere", 1);
  const Json state = git_state(scratch_ / "r");
  ::unsetenv("GIT_DIR");
  ::unsetenv("GIT_INDEX_FILE");
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_FALSE(state.is_null());
  EXPECT_EQ(state, expected);
  EXPECT_TRUE(fs::is_empty(scratch_ / "temporary"));
}

// Each repository has a file with an old time, which git reads again. The program `evil` writes its
// name into a log.
TEST_F(GitState, RunsNoProgramOfARepository) {
  const struct {
    const char* commands;
    bool runs;  // whether a plain `git describe --dirty` or `git status` runs the program
  } cases[] = {
      {"git config core.fsmonitor $E", true},
      {"echo '* filter=f' > .gitattributes && git config filter.f.clean $E", true},
      {"echo '* filter=a=b' > .git/info/attributes && git config filter.a=b.clean $E", true},
      {"echo '* filter=f' > .git/info/attributes && git config filter.f.process $E && "
       "git config filter.f.required true",
       true},
      {"git config --file ../included core.fsmonitor $E && git config include.path "
       "../../included",
       true},
      {"git config extensions.worktreeConfig true && git config --worktree core.fsmonitor $E",
       true},
      {"git clone -q . module && git add module && git commit -q -m module && git -C module config "
       "core.fsmonitor $E",
       true},
      {"mkdir hooks && cp $E hooks/post-index-change && git config core.hooksPath $PWD/hooks",
       true},
      {"cp $E .git/hooks/post-index-change", true},
      {"git config core.fsmonitor $E && git update-index --fsmonitor", true},
      {"echo '* diff=d' > .git/info/attributes && git config diff.d.textconv $E && "
       "git config diff.d.command $E && git config diff.external $E && git config gpg.program $E "
       "&& git config log.showSignature true && git config core.pager $E && git config "
       "pager.status "
       "true && git config core.alternateRefsCommand $E && git config core.editor $E",
       false},
      {"git config core.sshCommand $E && git config remote.origin.url ssh://a/b && git config "
       "remote.origin.promisor true && git config extensions.partialClone origin && "
       "rm -f .git/objects/$(git rev-parse HEAD^{tree} | sed 's,..,&/,')",
       true},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.commands);
    shell(
        "rm -rf r log && printf '#!/bin/sh\\necho ran >> \"'$PWD'/log\"\\nexit 1\\n' > evil && "
        "chmod +x evil");
    make_repository();
    shell(std::string("cd r && E=$PWD/../evil && ") + one.commands +
          " && touch -d 2001-01-01 a.txt && rm -f ../log");
    git_state(scratch_ / "r");
    git_state(scratch_ / "r/sub");
    EXPECT_FALSE(fs::exists(scratch_ / "log"));
    shell("cd r && { git describe --always --dirty; git status; } < /dev/null || true");
    EXPECT_EQ(fs::exists(scratch_ / "log"), one.runs);
  }
}

TEST_F(GitState, DoesNotWaitForPipes) {
  make_repository();
  shell("cd r && rm .git/index && mkfifo .git/index .git/shallow .git/packed-refs");
  EXPECT_EQ(git_state(scratch_ / "r")["dirty"], true);  // all files are deleted in an empty index
  shell("cd r && rm .git/HEAD && mkfifo .git/HEAD");
  EXPECT_TRUE(git_state(scratch_ / "r").is_null());
}

}  // namespace
}  // namespace pushdown::git_state_test
