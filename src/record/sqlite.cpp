#include "record/sqlite.h"

#include <sqlite3.h>

#include <system_error>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

int should_stop(void*) { return StopCheck().asked() ? 1 : 0; }

// The file may come from somebody else. Nothing that its schema defines may run.
void distrust(sqlite3* handle) {
  for (const auto& [setting, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0)})
    sqlite3_db_config(handle, setting, value, nullptr);
}

}  // namespace

// Called whenever another process has locked the file. Returns whether to try again. An interrupted
// script also records its end here, so that it waits a little.
int Database::on_busy(void* busy, int tries) {
  constexpr int kNap = 20, kWaitOfInterrupted = 300;  // milliseconds
  constexpr int kTriesBeforeDoubt = 15;
  auto& state = *static_cast<Busy*>(busy);
  const int waited = tries * kNap;
  // SQLite cannot tell a lock of another process from a file system without locks.
  if (tries == kTriesBeforeDoubt) state.no_locks = has_no_locks(state.folder);
  if (state.no_locks || waited >= 1000 * state.seconds ||
      (waited >= kWaitOfInterrupted && StopCheck().asked()))
    return 0;
  sqlite3_sleep(kNap);
  return 1;
}

Database::Database(const std::filesystem::path& file, double busy_seconds)
    : file_(file), busy_{file.has_parent_path() ? file.parent_path() : ".", busy_seconds} {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(file.c_str(), &handle_, kFlags, nullptr) != SQLITE_OK) {
    const std::string reason = handle_ ? sqlite3_errmsg(handle_) : "not enough memory";
    sqlite3_close(handle_);
    fail_environment("registry", "cannot open '{}': {}", file.string(), reason);
  }
  sqlite3_extended_result_codes(handle_, 1);
  distrust(handle_);
  sqlite3_busy_handler(handle_, on_busy, &busy_);
  sqlite3_progress_handler(handle_, 100000, should_stop, nullptr);
}

Database::~Database() { sqlite3_close(handle_); }

bool Database::read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail_on("use");
}

std::int64_t Database::integer(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::transaction(const std::function<void()>& action) {
  if (read_only()) fail_protected("use");
  // A transaction that starts as a reader and writes later could not wait for another writer.
  execute("BEGIN IMMEDIATE");
  try {
    action();
    execute("COMMIT");
  } catch (...) {
    if (sqlite3_get_autocommit(handle_) == 0)
      sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }

void Database::fail_protected(const std::string& action) const {
  fail_environment("registry",
                   "cannot {} '{}': Permission denied: it, or its folder, is write-protected",
                   action, file_.string());
}

void Database::fail_on(const std::string& action) const {
  const int code = sqlite3_errcode(handle_) & 0xFF;
  if (code == SQLITE_INTERRUPT || code == SQLITE_BUSY) StopCheck()();
  std::string reason = sqlite3_errmsg(handle_);
  if (const int error = sqlite3_system_errno(handle_); error != 0)
    reason += fmt::format(" ({})", std::generic_category().message(error));
  switch (code) {
    case SQLITE_NOTADB:
      fail_environment("registry", "'{}' is not a registry of runs: it is not an SQLite file",
                       file_.string());
    case SQLITE_CORRUPT:
      fail_environment(
          "registry",
          "'{}' is damaged ({}); move it away, and 'pushdown runs index' makes a new one from the "
          "run folders",
          file_.string(), reason);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      if (busy_.no_locks)
        fail_environment("registry",
                         "cannot {} '{}': its file system has no locks; let PUSHDOWN_REGISTRY name "
                         "a file on another file system, or set it to 'off'",
                         action, file_.string());
      fail_environment("registry", "cannot {} '{}': another process keeps it locked", action,
                       file_.string());
    case SQLITE_READONLY: fail_protected(action);
    default: fail_environment("registry", "cannot {} '{}': {}", action, file_.string(), reason);
  }
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  require(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::require(int code) {
  if (code != SQLITE_OK) database_.fail_on("use");
}

void Statement::bind(int parameter, std::int64_t value) {
  require(sqlite3_bind_int64(statement_, parameter, value));
}
void Statement::bind(int parameter, double value) {
  require(sqlite3_bind_double(statement_, parameter, value));
}
void Statement::bind(int parameter, std::string_view text) {
  require(sqlite3_bind_text(statement_, parameter, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
}
void Statement::bind_null(int parameter) { require(sqlite3_bind_null(statement_, parameter)); }

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail_on("use");
  return false;
}

int Statement::columns() const { return sqlite3_column_count(statement_); }
std::string Statement::column_name(int column) const {
  return sqlite3_column_name(statement_, column);
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
}
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }
std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return data ? std::string(data, sqlite3_column_bytes(statement_, column)) : std::string();
}

}  // namespace pushdown
