#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz/fuzz.h"
#include "record/run_registry.h"

namespace pushdown {

FUZZ_TARGET(registry) {
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("pushdown-fuzz-registry-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto path = folder / "registry.sqlite";
  {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  fuzz::refused([&] {
    RunRegistry registry(path, true, 0.1);
    const auto rows = registry.find(Json::object());
    for (const Json& row : rows) row.dump(-1, ' ', false, Json::error_handler_t::replace);
    registry.find({{"where", {{"options.rate", ">", 1}, {"loss", "<", 2}}}, {"sort", "loss"}});
    registry.begin({{"folder", (folder / "run").string()}, {"experiment", "e"}});
  });
  std::filesystem::remove_all(folder);
}

}  // namespace pushdown
