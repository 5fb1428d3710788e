// The files that a path of the user names: one file, a folder, or a pattern of the shell.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

// A folder stands for every file below it whose name ends in `ending`, hidden ones aside, a path
// that is none and holds
// *, ? or [ for every file that matches. In the order of their names. std::runtime_error
// "[where] ..." where there is no such file.
std::vector<std::filesystem::path> files_named(std::string_view where, const std::string& path,
                                               std::string_view ending);

}  // namespace pushdown
