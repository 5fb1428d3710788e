// Logging: one logger for the process, to stderr, and to a run folder's file while one is open.
// Lines read `2024-05-01 12:00:00.123 info    message`.
#pragma once
#include <memory>
#include <string>

#include "bindings/binder/value.h"

namespace pushdown {

// "trace", "debug", "info", "warn", "error" or "off".
void set_log_level(const std::string& name);
std::string log_level();
void log_message(const std::string& level, const std::string& message);
// Logs the warnings of a value that was made and returns the value.
template <class Made>
Made warned(Made made) {
  for (const auto& warning : made.warnings()) log_message("warn", warning);
  return made;
}
// Logs only to the files.
void log_to_files(const std::string& level, const std::string& message);
// Returns whether messages of this level are logged now.
bool is_logged(const std::string& level);

// Also appends all messages to this file, which is made if necessary, until the handle is
// destroyed. Throws std::runtime_error if the file cannot be written.
std::shared_ptr<void> add_log_file(const std::string& path);

}  // namespace pushdown
