// The list of the files that this program has written in a folder. With it, a run can be removed
// from its folder while the files that somebody else has put there stay.
#pragma once
#include <string>
#include <vector>

#include "base/atomic_file.h"

namespace pushdown {

// From now on, each file that this process writes in `folder` or below it (write_file, FileWriter,
// LineFile, ProcessLock) is entered in the file `.written` of that folder before it appears: its
// path relative to the folder as a JSON text, one on each line. An existing list is continued.
void keep_written_list(const Path& folder);

// The relative paths on the list of `folder`, in the order of writing. A line that is damaged or
// that leads out of the folder is left out. Empty if there is no list.
std::vector<std::string> written_list(const Path& folder);

// Enters a file in the lists of the folders that contain it.
void note_written(const Path& file);

}  // namespace pushdown
