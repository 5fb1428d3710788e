#include "record/run_registry.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "base/check.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "registry";
constexpr std::int64_t kApplication = 0x50645272;  // "PdRr": identifies the file as a registry
constexpr std::int64_t kVersion = 1;

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
  message TEXT
);
CREATE INDEX run_grid ON run (grid, point, restart);
CREATE INDEX run_status ON run (status);
)";

enum class Kind { text, integer, number, json };
struct Column {
  const char* name;
  Kind kind;
  bool settable;
};
constexpr Column kColumns[] = {
    {"id", Kind::integer, false},      {"folder", Kind::text, false},
    {"experiment", Kind::text, true},  {"grid", Kind::text, true},
    {"point", Kind::text, true},       {"restart", Kind::integer, true},
    {"seed", Kind::integer, true},     {"status", Kind::text, true},
    {"attempts", Kind::integer, true}, {"options", Kind::json, true},
    {"command", Kind::json, true},     {"git", Kind::text, true},
    {"host", Kind::text, true},        {"pid", Kind::integer, true},
    {"created", Kind::number, false},  {"started", Kind::number, true},
    {"finished", Kind::number, true},  {"seconds", Kind::number, true},
    {"result", Kind::json, true},      {"message", Kind::text, true},
    {"note", Kind::text, true},        {"tags", Kind::json, true},
};

bool is_annotation(std::string_view name) { return name == "note" || name == "tags"; }

const Column* find_column(std::string_view name) {
  for (const auto& column : kColumns)
    if (name == column.name) return &column;
  return nullptr;
}

std::vector<std::string> column_names(bool only_settable) {
  std::vector<std::string> names;
  for (const auto& column : kColumns)
    if (column.settable || !only_settable) names.emplace_back(column.name);
  return names;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  else
    statement.bind(parameter, std::string_view(value.get_ref<const std::string&>()));
}

void check_status(const std::string& status) {
  static const std::vector<std::string> kStatuses{"waiting", "running", "done", "failed",
                                                  "interrupted"};
  check(std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end(), kWhere,
        "status must be one of {}, got '{}'", quoted_list(kStatuses), status);
}

void check_tag(const std::string& tag) {
  const bool plain = std::none_of(tag.begin(), tag.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == ',' || byte == 127;
  });
  check(!tag.empty() && tag.size() <= 64 && plain, kWhere,
        "a tag must be a text of 1 to 64 bytes without blanks, commas and control characters, got "
        "{}",
        dump(tag));
}

// Returns the tags sorted and without duplicates, or null if there is none.
Json checked_tags(const Json& value) {
  std::set<std::string> tags;
  for (const auto& tag : value) {
    check(value.is_array() && tag.is_string(), kWhere, "tags must be a list of texts, got {}",
          dump(value));
    check_tag(tag);
    tags.insert(tag);
  }
  return tags.empty() ? Json() : Json(tags);
}

// Returns the value for a column after checking its type.
Json checked(const Column& column, const Json& value) {
  if (value.is_null()) return value;
  const auto expect = [&](bool good, const char* type) {
    check(good, kWhere, "{} must be {}, got {}", column.name, type, dump(value));
  };
  switch (column.kind) {
    case Kind::text:
      expect(value.is_string(), "text");
      if (std::string_view(column.name) == "status") check_status(value);
      if (std::string_view(column.name) == "note" && value.get_ref<const std::string&>().empty())
        return nullptr;
      return value;
    case Kind::integer: expect(value.is_number_integer(), "an integer"); return value;
    case Kind::number: expect(value.is_number(), "a number"); return value;
    case Kind::json:
      expect(value.is_structured(), "a table");
      if (std::string_view(column.name) == "tags") {
        const Json tags = checked_tags(value);
        return tags.is_null() ? tags : Json(dump(tags));
      }
      return dump(value);
  }
  return value;
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
        !annotated     ? "? IS NULL"
        : key == "tag" ? "EXISTS (SELECT 1 FROM json_each(coalesce(tags, '[]')) WHERE value = ?)"
                       : "coalesce(note, '') GLOB ?";
    add(comparison == "=" ? holds : "NOT " + holds, value);
  }
  bool annotated = false;
};

Query conditions(const Json& filter, bool annotated) {
  static const std::vector<std::string> kKeys{"id",     "experiment", "grid",  "point",
                                              "status", "folder",     "since", "where",
                                              "sort",   "descending", "limit"};
  Query query;
  query.annotated = annotated;
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
  if (version() != kVersion)
    fail_environment(kWhere,
                     "'{}' is a registry of version {}, but this program reads version {}; a newer "
                     "program wrote it",
                     file().string(), version(), kVersion);
}

bool RunRegistry::annotated() {
  annotated_ = annotated_ || database_.integer(
                                 "SELECT count(*) FROM pragma_table_info('run') WHERE name IN "
                                 "('note', 'tags')") == 2;
  return annotated_;
}

// Within a transaction.
void RunRegistry::annotate() {
  if (annotated()) return;
  database_.execute("ALTER TABLE run ADD COLUMN note TEXT; ALTER TABLE run ADD COLUMN tags TEXT");
}

std::string RunRegistry::stored_folder(const std::string& folder) const {
  check(!folder.empty(), kWhere, "a run must have a folder");
  const fs::path path = fs::weakly_canonical(fs::absolute(folder));
  const fs::path relative = path.lexically_relative(folder_);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return (inside ? relative : path).string();
}

void RunRegistry::set(std::int64_t id, const Json& fields) {
  std::string assignments;
  std::vector<Json> values;
  for (const auto& [name, value] : fields.items()) {
    const Column* column = find_column(name);
    if (column != nullptr && name == "folder") continue;  // the row was found by its folder
    if (column == nullptr || !column->settable) {
      const auto names = column_names(true);
      const auto near = nearest_names(name, names);
      fail(kWhere, "unknown field '{}'{}; the fields are {}", name,
           near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
    }
    const Json stored = checked(*column, value);
    if (is_annotation(name)) {
      if (stored.is_null() && !annotated()) continue;
      annotate();
    }
    assignments += fmt::format("{}{} = ?", assignments.empty() ? "" : ", ", name);
    values.push_back(stored);
  }
  if (values.empty()) return;
  Statement statement(database_, "UPDATE run SET " + assignments + " WHERE id = ?");
  for (std::size_t i = 0; i < values.size(); ++i)
    bind_value(statement, static_cast<int>(i) + 1, values[i]);
  statement.bind(static_cast<int>(values.size()) + 1, id);
  statement.step();
}

// Returns the row of the run's folder, which is created if necessary.
Json RunRegistry::put(const Json& run) {
  check(run.is_object() && run.contains("folder") && run["folder"].is_string(), kWhere,
        "a run must have a folder, got {}", dump(run));
  const std::string folder = stored_folder(run["folder"]);
  Statement known(database_, "SELECT id FROM run WHERE folder = ?");
  known.bind(1, std::string_view(folder));
  if (known.step()) return row_of(known.integer(0));
  Statement statement(database_, "INSERT INTO run (folder, created) VALUES (?, ?)");
  statement.bind(1, std::string_view(folder));
  statement.bind(2, now());
  statement.step();
  return row_of(database_.last_id());
}

std::vector<Json> RunRegistry::add(const std::vector<Json>& runs) {
  std::vector<Json> rows;
  database_.transaction([&] {
    for (const auto& run : runs) {
      const Json row = put(run);
      Json absent = Json::object();
      for (const auto& [name, value] : run.items())
        if (!row.contains(name)) absent[name] = value;
      set(row["id"], absent);
      rows.push_back(row_of(row["id"]));
    }
  });
  return rows;
}

std::int64_t RunRegistry::begin(const Json& run) {
  std::int64_t id = 0;
  database_.transaction([&] {
    id = put(run)["id"];
    set(id, run);
    Statement statement(database_,
                        "UPDATE run SET status = 'running', attempts = attempts + 1, started = ?, "
                        "finished = NULL, seconds = NULL, result = NULL, message = NULL "
                        "WHERE id = ?");
    statement.bind(1, now());
    statement.bind(2, id);
    statement.step();
  });
  return id;
}

void RunRegistry::update(std::int64_t id, const Json& fields) {
  check(fields.is_object(), kWhere, "the fields must be a table by name, got {}", dump(fields));
  database_.transaction([&] {
    row_of(id);
    set(id, fields);
  });
}

void RunRegistry::finish(std::int64_t id, const Json& fields) {
  Json ended = fields;
  if (!ended.contains("finished")) ended["finished"] = now();
  update(id, ended);
  Statement statement(database_,
                      "UPDATE run SET seconds = finished - started WHERE id = ? AND seconds IS "
                      "NULL AND started <= finished");  // unknown if the clock was set back
  statement.bind(1, id);
  statement.step();
}

void RunRegistry::tag(const std::vector<std::int64_t>& ids, const std::vector<std::string>& added,
                      const std::vector<std::string>& removed) {
  for (const auto* list : {&added, &removed})
    for (const auto& tag : *list) check_tag(tag);
  database_.transaction([&] {
    for (const auto id : ids) {
      const Json row = row_of(id);
      std::set<std::string> tags;
      if (row.contains("tags")) tags = row["tags"].get<std::set<std::string>>();
      tags.insert(added.begin(), added.end());
      for (const auto& tag : removed) tags.erase(tag);
      set(id, {{"tags", tags}});
    }
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
    const Column* column = find_column(name);
    if (column->kind == Kind::json)
      run[name] = try_parse_json(statement.text(i));
    else if (name == "folder")
      run[name] = (folder_ / statement.text(i)).string();
    else if (statement.is_text(i))
      run[name] = statement.text(i);
    else if (statement.is_integer(i))
      run[name] = statement.integer(i);
    else
      run[name] = statement.number(i);
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
  const bool all_columns = annotated();
  Query query = conditions(filter, all_columns);
  std::string names;
  for (const auto& name : column_names(false))
    if (all_columns || !is_annotation(name)) names += (names.empty() ? "" : ", ") + name;
  std::string sql = "SELECT " + names + " FROM run" + query.sql + " ORDER BY ";
  const bool descending = filter.value("descending", Json(false)) == true;
  if (filter.contains("sort") && !filter["sort"].is_null()) {
    const Json& sort = filter["sort"];
    check(sort.is_string(), kWhere, "sort must be text, got {}", dump(sort));
    const auto name = sort.get<std::string>();
    const std::string value = !all_columns && is_annotation(name) ? "NULL"
                              : find_column(name) != nullptr      ? name
                                                                  : json_value(name);
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
