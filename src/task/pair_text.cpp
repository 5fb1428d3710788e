#include "task/pair_text.h"

#include "base/check.h"
#include "task/pair_list.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.pairs";
constexpr std::string_view kMark = "# pairs ";

Alphabet alphabet_of(const Json& symbols) {
  return Alphabet(symbols.get<std::vector<std::string>>());
}

}  // namespace

std::string to_text(const PairSource& source) {
  Json head = source.describe();
  std::string body;
  if (const auto* list = dynamic_cast<const PairList*>(&source)) {
    // Some symbols of the alphabets may not occur in any pair.
    head["source_alphabet"] = source.source_alphabet().symbols();
    head["target_alphabet"] = source.target_alphabet().symbols();
    body = pairs_text(source, list->pairs());
  }
  return std::string(kMark) + head.dump() + "\n" + body;
}

PairSourcePtr parse_pair_source(std::string_view text, const std::string& file) {
  check(text.starts_with(kMark), kWhere, "{}:1: expected a line that begins with '{}'", file,
        kMark);
  const auto end = std::min(text.find('\n'), text.size());
  Json head = try_parse_json(text.substr(kMark.size(), end - kMark.size()));
  check(head.is_object() && head.contains("kind"), kWhere,
        "{}:1: expected a table with the kind of the pairs", file);
  if (head["kind"] != "list") return make_pairs(head);
  PairAlphabets alphabets;
  std::string name;
  try {
    alphabets = {alphabet_of(head.at("source_alphabet")), alphabet_of(head.at("target_alphabet"))};
    name = head.value("name", file);
  } catch (const nlohmann::json::exception& error) {
    fail(kWhere, "{}:1: {}", file, json_error(error));
  }
  // The empty line in place of the head keeps the numbers of lines.
  const auto list =
      parse_pairs("\n" + std::string(text.substr(std::min(end + 1, text.size()))), file, alphabets);
  return std::make_shared<PairList>(list->source_alphabet(), list->target_alphabet(), list->pairs(),
                                    name);
}

}  // namespace pushdown
