// A small layer over SQLite: an open database, and prepared statements that read and write its
// values. Database errors are std::runtime_errors that name the file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace pushdown {

class Database {
 public:
  // Opens the file, creating it if necessary. Waits up to `busy_seconds` whenever another process
  // writes to it, but not if the file system has no locks.
  Database(const std::filesystem::path& file, double busy_seconds);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::filesystem::path& file() const { return file_; }
  sqlite3* handle() const { return handle_; }

  bool read_only() const;
  // Runs statements without parameters or results.
  void execute(const std::string& sql);
  // Returns the first value of the first row.
  std::int64_t integer(const std::string& sql);
  // Runs `action` completely or not at all; no other process can write meanwhile.
  void transaction(const std::function<void()>& action);
  std::int64_t last_id() const;
  // Throws the database's last error in words.
  [[noreturn]] void fail_on(const std::string& action) const;

 private:
  struct Busy {
    std::filesystem::path folder;
    double seconds;
    bool no_locks = false;
  };
  [[noreturn]] void fail_protected(const std::string& action) const;
  static int on_busy(void* busy, int tries);

  std::filesystem::path file_;
  Busy busy_;
  sqlite3* handle_ = nullptr;
};

// A prepared statement. Parameters are numbered from 1, columns from 0.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view text);
  void bind_null(int parameter);
  // Moves to the next row; returns false at the end.
  bool step();

  int columns() const;
  std::string column_name(int column) const;
  bool is_null(int column) const;
  bool is_text(int column) const;
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;

 private:
  void require(int code);
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace pushdown
