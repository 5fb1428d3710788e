// The state of the git repository in which a run was started.
#pragma once
#include "base/atomic_file.h"
#include "base/json.h"

namespace pushdown {

// Returns {commit, branch, dirty} of the repository around `folder`; null outside a repository or
// without git. Never runs a program that the repository's configuration names.
Json git_state(const Path& folder);

}  // namespace pushdown
