// The state of the git repository in which a run was started.
#pragma once
#include "base/atomic_file.h"
#include "base/json.h"

namespace pushdown {

// Returns {commit, branch, dirty, description} of the repository around `folder`; null outside a
// repository, before its first commit, or without git. `branch` is HEAD if none is checked out.
// `dirty` tells whether a tracked file differs from the commit; submodules do not count.
// `description` is the text of `git describe --always --dirty --abbrev=12`.
//
// The repository may belong to somebody else, and its configuration can name programs that git runs
// (a file system monitor, filters, hooks, the transport of missing objects). Therefore git never
// reads that configuration: it gets a temporary git folder with links to the data of the
// repository, and a copy of the settings that only say how files are stored. It reads no settings
// of the user either.
Json git_state(const Path& folder);

}  // namespace pushdown
