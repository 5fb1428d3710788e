// The files that a user's path refers to: one file, a folder, or a shell pattern.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

// Returns the matching files ordered by name. A folder matches every file below it whose name ends
// in `ending`, except hidden ones. A path that does not exist and contains *, ? or [ matches as a
// pattern. Throws std::runtime_error "[where] ..." if no file matches.
std::vector<std::filesystem::path> files_named(std::string_view where, const std::string& path,
                                               std::string_view ending);

}  // namespace pushdown
