#include "record/run_record.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/check.h"
#include "base/options.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "registry";

Path record_file(const Path& folder) { return folder / "run.json"; }

std::string shown(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void check_status(const std::string& status) {
  static const std::vector<std::string> kStatuses{"waiting", "running", "done", "failed",
                                                  "interrupted"};
  check(std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end(), kWhere,
        "status must be one of {}, got '{}'", quoted_list(kStatuses), status);
}

// Returns the tags sorted and without duplicates, or null if there is none.
Json checked_tags(const Json& value) {
  std::set<std::string> tags;
  for (const auto& tag : value) {
    check(value.is_array() && tag.is_string(), kWhere, "tags must be a list of texts, got {}",
          shown(value));
    check_tag(tag);
    tags.insert(tag);
  }
  return tags.empty() ? Json() : Json(tags);
}

// Returns the value of a field after checking its type.
Json checked(const RecordField& field, const Json& value) {
  if (value.is_null()) return value;
  const std::string_view name = field.name;
  const auto expect = [&](bool good, const char* type) {
    check(good, kWhere, "{} must be {}, got {}", name, type, shown(value));
  };
  switch (field.type) {
    case RecordField::Type::text:
      expect(value.is_string(), "text");
      if (name == "status") check_status(value);
      if (name == "note" && value.get_ref<const std::string&>().empty()) return nullptr;
      break;
    case RecordField::Type::integer: expect(value.is_number_integer(), "an integer"); break;
    case RecordField::Type::number: expect(value.is_number(), "a number"); break;
    case RecordField::Type::json:
      expect(value.is_structured(), "a table");
      if (name == "tags") return checked_tags(value);
      break;
  }
  return value;
}

bool is_regular(const Path& file) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(file, ignored));
}

// Returns the result of an ended run from its own file, or null.
Json result_in(const Path& folder) {
  const Path file = folder / "result.json";
  if (!is_regular(file)) return nullptr;
  Json result = try_parse_json(read_file(file));
  if (!result.is_object()) return nullptr;
  Json known = Json::object();
  for (const auto& [name, value] : result.items())
    if (!value.is_null()) known[name] = value;
  return known;
}

}  // namespace

const std::vector<RecordField>& record_fields() {
  using Type = RecordField::Type;
  static const std::vector<RecordField> kFields{
      {"experiment", Type::text},  {"grid", Type::text},      {"point", Type::text},
      {"restart", Type::integer},  {"seed", Type::integer},   {"status", Type::text},
      {"attempts", Type::integer}, {"options", Type::json},   {"command", Type::json},
      {"git", Type::text},         {"host", Type::text},      {"pid", Type::integer},
      {"created", Type::number},   {"started", Type::number}, {"finished", Type::number},
      {"seconds", Type::number},   {"result", Type::json},    {"message", Type::text},
      {"note", Type::text},        {"tags", Type::json}};
  return kFields;
}

const RecordField* find_record_field(std::string_view name) {
  for (const auto& field : record_fields())
    if (name == field.name) return &field;
  return nullptr;
}

void check_tag(const std::string& tag) {
  const bool plain = std::none_of(tag.begin(), tag.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == ',' || byte == 127;
  });
  check(!tag.empty() && tag.size() <= 64 && plain, kWhere,
        "a tag must be a text of 1 to 64 bytes without blanks, commas and control characters, got "
        "{}",
        shown(tag));
}

void set_record_fields(Json& record, const Json& fields) {
  check(fields.is_object(), kWhere, "the fields must be a table by name, got {}", shown(fields));
  for (const auto& [name, value] : fields.items()) {
    const RecordField* field = find_record_field(name);
    if (field == nullptr) {
      std::vector<std::string> names;
      for (const auto& known : record_fields()) names.emplace_back(known.name);
      const auto near = nearest_names(name, names);
      fail(kWhere, "unknown field '{}'{}; the fields are {}", name,
           near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
    }
    Json kept = checked(*field, value);
    if (kept.is_null())
      record.erase(name);
    else
      record[name] = std::move(kept);
  }
}

Json read_run_record(const Path& folder) {
  const Path file = record_file(folder);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(file, ignored))) return nullptr;
  Json record = Json::object();
  const auto refuse = [&](const std::string& reason) {
    fail_environment(kWhere, "'{}' is not the record of a run: {}; correct it or move it away",
                     file.string(), reason);
  };
  if (!is_regular(file)) refuse("it is a link, a folder, a pipe or a device");
  try {
    const Json stored = parse_json(read_file(file));
    if (!stored.is_object()) refuse("expected a table, got " + shown(stored));
    // Fields of later versions are left out.
    for (const auto& field : record_fields())
      if (stored.contains(field.name))
        set_record_fields(record, {{field.name, stored[field.name]}});
  } catch (const nlohmann::json::exception& error) {
    refuse(json_error(error));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  const std::string status = record.value("status", "waiting");
  if (status != "waiting" && status != "running")
    if (Json result = result_in(folder); !result.is_null()) record["result"] = std::move(result);
  return record;
}

void write_run_record(const Path& folder, const Json& record) {
  std::error_code error;
  fs::create_directories(folder, error);
  const bool elsewhere = is_regular(folder / "result.json");
  Json stored = Json::object();
  for (const auto& field : record_fields())
    if (record.contains(field.name) && !(elsewhere && std::string_view(field.name) == "result"))
      stored[field.name] = record[field.name];
  write_file(record_file(folder),
             stored.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void check_record_writable(const Path& folder) {
  read_run_record(folder);
  // Nothing to test where the folder is still to be made.
  if (::access(folder.c_str(), W_OK) != 0 && errno != ENOENT)
    fail_environment(kWhere, "cannot write '{}': {}; the folder of a run keeps its note and tags",
                     record_file(folder).string(), std::strerror(errno));
}

}  // namespace pushdown
