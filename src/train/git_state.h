// The state of the git repository that a run was started in.
#pragma once
#include "base/atomic_file.h"
#include "base/json.h"

namespace pushdown {

// {commit, branch, dirty} of the repository around `folder`; null outside of one or without git.
// No program that the repository names is run.
Json git_state(const Path& folder);

}  // namespace pushdown
