// The grammars of tests/golden/pcfg_*.json: every file of that name is checked.
#pragma once
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grammar/grammar.h"
#include "support/golden_folder.h"

namespace pushdown::golden {

using nlohmann::json;

inline std::vector<std::string> pcfg_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDEN_FOLDER)) {
    const auto name = entry.path().stem().string();
    if (name.starts_with("pcfg_")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline json load(const std::string& name) {
  std::ifstream stream(std::string(GOLDEN_FOLDER) + "/" + name + ".json");
  return json::parse(stream);
}

// null is the logarithm of zero.
inline double number(const json& value) {
  return value.is_null() ? -std::numeric_limits<double>::infinity() : value.get<double>();
}

// rules: "rules_paper", "rules_code" or "rules_reference_after_removal".
inline GrammarSource source(const json& file, const std::string& rules) {
  GrammarSource source;
  source.start = file["start"];
  source.symbols = file["vocab"].get<std::vector<std::string>>();
  for (const auto& rule : file[rules]) {
    NamedRule named{rule["lhs"], {}, rule["p"]};
    for (const auto& symbol : rule["rhs"])
      if (symbol[0] == "t")
        named.right.push_back({true, source.symbols.at(symbol[1].get<int>())});
      else
        named.right.push_back({false, symbol[1]});
    source.rules.push_back(named);
  }
  source.unambiguous = file["conditional_entropy_nats"]["paper"].is_array();
  return source;
}

}  // namespace pushdown::golden
