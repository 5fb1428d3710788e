#include "record/run_registry.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/check.h"
#include "base/options.h"
#include "record/run_record.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "registry";
constexpr std::int64_t kApplication = 0x50645272;  // "PdRr": identifies the file as a registry
constexpr std::int64_t kVersion = 2;

constexpr const char* kSchema = R"(
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  folder TEXT NOT NULL UNIQUE,
  experiment TEXT,
  grid TEXT,
  point TEXT,
  restart INTEGER,
  seed INTEGER,
  status TEXT NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'running', 'done', 'failed', 'interrupted')),
  attempts INTEGER NOT NULL DEFAULT 0,
  options TEXT,
  command TEXT,
  git TEXT,
  host TEXT,
  pid INTEGER,
  created REAL NOT NULL,
  started REAL,
  finished REAL,
  seconds REAL,
  result TEXT,
  message TEXT,
  note TEXT,
  tags TEXT
);
CREATE INDEX run_grid ON run (grid, point, restart);
CREATE INDEX run_status ON run (status);
)";

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_column(std::string_view name) {
  return name == "id" || name == "folder" || find_record_field(name) != nullptr;
}

void bind_value(Statement& statement, int parameter, const Json& value) {
  if (value.is_null())
    statement.bind_null(parameter);
  else if (value.is_boolean())  // the form in which SQLite's JSON functions return it
    statement.bind(parameter, std::int64_t{value.get<bool>()});
  else if (value.is_number_integer())
    statement.bind(parameter, value.get<std::int64_t>());
  else if (value.is_number())
    statement.bind(parameter, value.get<double>());
  else if (value.is_structured())
    statement.bind(parameter, std::string_view(dump(value)));
  else
    statement.bind(parameter, std::string_view(value.get_ref<const std::string&>()));
}

// Returns the SQL for the value of options.NAME, of result.NAME, or of a plain NAME: the option or,
// if there is none, the result.
std::string json_value(const std::string& name) {
  check(!name.empty() && name.find('"') == name.npos, kWhere,
        "a key must be a name without quotes, got '{}'", name);
  const auto extract = [](const char* column, const std::string& key) {
    std::string quoted;
    for (const char c : key) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return fmt::format("json_extract({}, '$.\"{}\"')", column, quoted);
  };
  if (name.starts_with("result.")) return extract("result", name.substr(7));
  if (name.starts_with("options.")) return extract("options", name.substr(8));
  return "coalesce(" + extract("options", name) + ", " + extract("result", name) + ")";
}

// The conditions of a filter, with the values of their placeholders in order.
struct Query {
  std::string sql;
  std::vector<Json> values;

  void add(const std::string& condition) { sql += (sql.empty() ? " WHERE " : " AND ") + condition; }
  void add(const std::string& condition, const Json& value) {
    add(condition);
    values.push_back(value);
  }
  void add_any(const std::string& column, const Json& given) {
    const Json list = given.is_array() ? given : Json::array({given});
    std::string marks;
    for (const auto& value : list) {
      check(value.is_string() || value.is_number_integer(), kWhere,
            "{} must be text, an integer or a list of these, got {}", column, dump(given));
      marks += marks.empty() ? "?" : ", ?";
      values.push_back(value);
    }
    add(column + " IN (" + marks + ")");
  }
  void add_where(const Json& condition) {
    const bool form = condition.is_array() && condition.size() == 3 && condition[0].is_string() &&
                      condition[1].is_string() && condition[2].is_primitive();
    check(form, kWhere, "a condition must be a list of key, comparison and value, got {}",
          dump(condition));
    const auto comparison = condition[1].get<std::string>();
    static const std::vector<std::string> kComparisons{"=", "!=", "<", "<=", ">", ">="};
    check(std::find(kComparisons.begin(), kComparisons.end(), comparison) != kComparisons.end(),
          kWhere, "a comparison must be one of {}, got '{}'", quoted_list(kComparisons),
          comparison);
    const auto key = condition[0].get<std::string>();
    if (key == "note" || key == "tag") return add_annotation(key, comparison, condition[2]);
    add(json_value(key) + " " + comparison + " ?", condition[2]);
  }
  void add_annotation(const std::string& key, const std::string& comparison, const Json& value) {
    check(comparison == "=" || comparison == "!=", kWhere,
          "{} supports only the comparisons = and !=, got {}", key, comparison);
    check(value.is_string(), kWhere, "{} must be text, got {}", key, dump(value));
    const std::string holds =
        key == "tag" ? "EXISTS (SELECT 1 FROM json_each(coalesce(tags, '[]')) WHERE value = ?)"
                     : "coalesce(note, '') GLOB ?";
    add(comparison == "=" ? holds : "NOT " + holds, value);
  }
};

Query conditions(const Json& filter) {
  static const std::vector<std::string> kKeys{"id",     "experiment", "grid",  "point",
                                              "status", "folder",     "since", "where",
                                              "sort",   "descending", "limit"};
  Query query;
  for (const auto& [key, value] : filter.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      const auto near = nearest_names(key, kKeys);
      fail(kWhere, "unknown filter '{}'{}; the filters are {}", key,
           near.empty() ? "" : ", did you mean " + near + "?", quoted_list(kKeys));
    }
    if (value.is_null()) continue;
    const auto text = [&, &key = key, &value = value] {
      check(value.is_string(), kWhere, "{} must be text, got {}", key, dump(value));
      return value.get<std::string>();
    };
    if (key == "id" || key == "status") query.add_any(key, value);
    if (key == "experiment" || key == "grid") query.add(key + " GLOB ?", text());
    if (key == "point" || key == "folder") query.add(key + " = ?", text());
    if (key == "since") {
      check(value.is_number(), kWhere, "since must be seconds since 1970, got {}", dump(value));
      query.add("coalesce(started, created) >= ?", value);
    }
    if (key == "where")
      for (const auto& condition : value) query.add_where(condition);
  }
  return query;
}

// A registry that comes from somebody else can have any value in any column.
bool fits(const RecordField& field, const Json& value) {
  using Type = RecordField::Type;
  if (std::string_view(field.name) == "tags")
    return value.is_array() &&
           std::all_of(value.begin(), value.end(), [](const Json& tag) { return tag.is_string(); });
  return field.type == Type::text      ? value.is_string()
         : field.type == Type::integer ? value.is_number_integer()
         : field.type == Type::number  ? value.is_number()
                                       : value.is_structured();
}

std::string folder_of(const Json& run) {
  check(run.is_object() && run.contains("folder") && run["folder"].is_string(), kWhere,
        "a run must have a folder, got {}", dump(run));
  return run["folder"];
}

// The fields of a run without its folder, by which it was found.
Json fields_of(const Json& run) {
  Json fields = run;
  if (fields.is_object()) fields.erase("folder");
  return fields;
}

}  // namespace

RunRegistry::RunRegistry(const Path& file, bool must_exist, double busy_seconds)
    : database_(
          [&] {
            std::error_code error;
            if (must_exist && !fs::exists(file, error))
              fail_environment(kWhere, "there is no registry '{}'", file.string());
            if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
            return file;
          }(),
          busy_seconds),
      folder_(fs::weakly_canonical(fs::absolute(file).parent_path())) {
  prepare_schema();
}

void RunRegistry::prepare_schema() {
  const auto version = [&] { return database_.integer("PRAGMA user_version"); };
  const auto ours = [&] { return database_.integer("PRAGMA application_id") == kApplication; };
  if (!ours()) {
    database_.transaction([&] {
      if (ours()) return;  // another process was faster
      if (database_.integer("SELECT count(*) FROM sqlite_master") > 0 || version() != 0)
        fail_environment(kWhere, "'{}' is an SQLite file but not a registry of runs",
                         file().string());
      database_.execute(kSchema);
      database_.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                    kApplication, kVersion));
    });
  }
  if (version() == 1) take_over_first_version();
  if (version() != kVersion && !(version() == 1 && database_.read_only()))
    fail_environment(kWhere,
                     "'{}' is a registry of version {}, but this program reads version {}; a newer "
                     "program wrote it",
                     file().string(), version(), kVersion);
}

// Version 1 was the only place of notes, tags and states, and had columns for notes and tags only
// if a run had some. Their runs get records in their folders.
void RunRegistry::take_over_first_version() {
  const auto complete = [&](const char* table) {
    if (database_.integer(fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = "
                                      "'tags'",
                                      table)) == 0)
      database_.execute(
          fmt::format("ALTER TABLE {0} ADD COLUMN note TEXT; ALTER TABLE {0} ADD "
                      "COLUMN tags TEXT",
                      table));
  };
  if (database_.read_only()) {  // statements use the copy, which has the name of the table
    database_.execute("CREATE TEMP TABLE run AS SELECT * FROM main.run");
    return complete("run");
  }
  database_.transaction([&] {
    if (database_.integer("PRAGMA user_version") != 1) return;  // another process was faster
    complete("run");
    for (const Json& row : find(nullptr)) keep(row);
    database_.execute(fmt::format("PRAGMA user_version = {}", kVersion));
  });
}

// Writes the record of a run that only this registry knows. A registry may come from somebody else
// and name any folder, so others than those of runs stay as they are.
void RunRegistry::keep(const Json& row) {
  const Path folder = folder_of(row);
  const bool annotated = row.contains("note") || row.contains("tags");
  const bool inside = !Path(stored_folder(folder)).is_absolute();
  std::error_code ignored;
  const bool ours = fs::is_directory(folder, ignored)
                        ? inside || fs::is_regular_file(folder / "run.lock", ignored)
                        : inside && annotated;
  if (!ours || (!annotated && row.value("status", "") == "waiting")) return;
  try {
    if (read_run_record(folder).is_null()) write_run_record(folder, row);
  } catch (const std::runtime_error&) {
    return;  // a folder that cannot be written, such as somebody else's: the row stays
  }
}

std::string RunRegistry::stored_folder(const std::string& folder) const {
  check(!folder.empty(), kWhere, "a run must have a folder");
  const fs::path path = fs::weakly_canonical(fs::absolute(folder));
  const fs::path relative = path.lexically_relative(folder_);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return (inside ? relative : path).string();
}

// Changes the record of the run in this folder by `action`, in the folder and here, and returns the
// row. A record that is not in the folder yet is written there only if `store` is set, and nothing
// is written into a folder of somebody else. Within a transaction.
Json RunRegistry::change(const std::string& folder, bool store,
                         const std::function<void(Json&)>& action) {
  const std::string place = stored_folder(folder);
  const Path path = folder_ / place;
  Json record = read_run_record(path), before = record;
  Statement known(database_, "SELECT id FROM run WHERE folder = ?");
  known.bind(1, std::string_view(place));
  const bool listed = known.step();
  const std::int64_t id = listed ? known.integer(0) : 0;
  const bool stored = !record.is_null();
  if (!stored) {
    record = listed ? row_of(id) : Json::object();
    record.erase("id");
    record.erase("folder");
    if (record.value("status", "") == "waiting") record.erase("status");
  }
  action(record);
  const Json unknown{{"status", "waiting"}, {"attempts", 0}, {"created", now()}};
  for (const auto& [name, value] : unknown.items())
    if (!record.contains(name)) record[name] = value;
  std::error_code ignored;
  const bool writable = ::access(path.c_str(), W_OK) == 0 || !fs::exists(path, ignored);
  if ((stored || store) && writable && record != before) write_run_record(path, record);

  std::string columns, marks;
  for (const auto& field : record_fields()) {
    columns += fmt::format("{}, ", field.name);
    marks += "?, ";
  }
  Statement statement(
      database_, listed
                     ? fmt::format("UPDATE run SET ({}folder) = ({}?) WHERE id = ?", columns, marks)
                     : fmt::format("INSERT INTO run ({}folder) VALUES ({}?)", columns, marks));
  int parameter = 0;
  for (const auto& field : record_fields())
    bind_value(statement, ++parameter, record.value(field.name, Json()));
  statement.bind(++parameter, std::string_view(place));
  if (listed) statement.bind(++parameter, id);
  statement.step();
  return row_of(listed ? id : database_.last_id());
}

std::vector<Json> RunRegistry::add(const std::vector<Json>& runs) {
  std::vector<Json> rows;
  database_.transaction([&] {
    for (const auto& run : runs)
      rows.push_back(change(folder_of(run), false, [&](Json& record) {
        Json absent = fields_of(run);
        for (const auto& [name, value] : record.items()) absent.erase(name);
        set_record_fields(record, absent);
      }));
  });
  return rows;
}

std::int64_t RunRegistry::begin(const Json& run) {
  std::int64_t id = 0;
  database_.transaction([&] {
    id = change(folder_of(run), true, [&](Json& record) {
      set_record_fields(record, fields_of(run));
      for (const char* of_attempt : {"finished", "seconds", "result", "message"})
        record.erase(of_attempt);
      record["status"] = "running";
      record["attempts"] = record.value("attempts", std::int64_t{0}) + 1;
      record["started"] = now();
    })["id"];
  });
  return id;
}

void RunRegistry::update(std::int64_t id, const Json& fields) {
  database_.transaction([&] {
    const std::string folder = folder_of(row_of(id));
    if (fields.contains("note") || fields.contains("tags")) check_record_writable(folder);
    change(folder, true, [&](Json& record) { set_record_fields(record, fields_of(fields)); });
  });
}

void RunRegistry::finish(std::int64_t id, const Json& fields) {
  database_.transaction([&] {
    change(folder_of(row_of(id)), true, [&](Json& record) {
      record["finished"] = now();
      set_record_fields(record, fields_of(fields));
      // Unknown if the clock was set back.
      const double seconds = record["finished"].get<double>() -
                             record.value("started", record["finished"]).get<double>();
      if (!record.contains("seconds") && record.contains("started") && seconds >= 0)
        record["seconds"] = seconds;
    });
  });
}

void RunRegistry::tag(const std::vector<std::int64_t>& ids, const std::vector<std::string>& added,
                      const std::vector<std::string>& removed) {
  for (const auto* list : {&added, &removed})
    for (const auto& tag : *list) check_tag(tag);
  database_.transaction([&] {
    std::vector<std::string> folders;
    for (const auto id : ids) folders.push_back(folder_of(row_of(id)));
    for (const auto& folder : folders) check_record_writable(folder);
    for (const auto& folder : folders)
      change(folder, true, [&](Json& record) {
        std::set<std::string> tags;
        if (record.contains("tags")) tags = record["tags"].get<std::set<std::string>>();
        tags.insert(added.begin(), added.end());
        for (const auto& tag : removed) tags.erase(tag);
        set_record_fields(record, {{"tags", tags}});
      });
  });
}

std::int64_t RunRegistry::remove(const std::vector<std::int64_t>& ids) {
  std::int64_t count = 0;
  database_.transaction([&] {
    for (const auto id : ids) {
      Statement statement(database_, "DELETE FROM run WHERE id = ? RETURNING id");
      statement.bind(1, id);
      while (statement.step()) ++count;
    }
  });
  return count;
}

Json RunRegistry::row(const Statement& statement) const {
  Json run = Json::object();
  for (int i = 0; i < statement.columns(); ++i) {
    if (statement.is_null(i)) continue;
    const std::string name = statement.column_name(i);
    const RecordField* field = find_record_field(name);
    Json value;
    if (field != nullptr && field->type == RecordField::Type::json)
      value = try_parse_json(statement.text(i));
    else if (name == "folder")
      value = (folder_ / statement.text(i)).string();
    else if (statement.is_text(i))
      value = statement.text(i);
    else if (statement.is_integer(i))
      value = statement.integer(i);
    else
      value = statement.number(i);
    if (field == nullptr || fits(*field, value)) run[name] = std::move(value);
  }
  return run;
}

Json RunRegistry::row_of(std::int64_t id) {
  const auto rows = find(Json{{"id", id}});
  check(!rows.empty(), kWhere, "there is no run {} in '{}'", id, file().string());
  return rows.front();
}

std::vector<Json> RunRegistry::find(const Json& given) {
  Json filter = given.is_null() ? Json::object() : given;
  check(filter.is_object(), kWhere, "the filter must be a table by name, got {}", dump(filter));
  if (filter.contains("folder") && filter["folder"].is_string())
    filter["folder"] = stored_folder(filter["folder"]);
  Query query = conditions(filter);
  std::string sql = "SELECT id, folder";
  for (const auto& field : record_fields()) sql += fmt::format(", {}", field.name);
  sql += " FROM run" + query.sql + " ORDER BY ";
  const bool descending = filter.value("descending", Json(false)) == true;
  if (filter.contains("sort") && !filter["sort"].is_null()) {
    const Json& sort = filter["sort"];
    check(sort.is_string(), kWhere, "sort must be text, got {}", dump(sort));
    const auto name = sort.get<std::string>();
    const std::string value = is_column(name) ? name : json_value(name);
    // Rows without a value come last in both directions.
    sql += fmt::format("{0} IS NULL, {0}{1}, ", value, descending ? " DESC" : "");
  }
  sql += descending ? "id DESC" : "id";
  if (filter.contains("limit") && !filter["limit"].is_null()) {
    const Json& limit = filter["limit"];
    check(limit.is_number_integer() && limit >= 0, kWhere,
          "limit must be an integer from 0, got {}", dump(limit));
    sql += " LIMIT ?";
    query.values.push_back(limit);
  }
  Statement statement(database_, sql);
  for (std::size_t i = 0; i < query.values.size(); ++i)
    bind_value(statement, static_cast<int>(i) + 1, query.values[i]);
  std::vector<Json> rows;
  while (statement.step()) rows.push_back(row(statement));
  return rows;
}

}  // namespace pushdown
