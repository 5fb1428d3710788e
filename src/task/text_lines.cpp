#include "task/text_lines.h"

#include "base/check.h"
#include "base/stopping.h"
#include "base/utf8.h"

namespace pushdown {

TextLines::TextLines(std::string_view where, std::istream& input, std::string file)
    : where_(where), input_(input), file_(std::move(file)) {}

std::string TextLines::place(int number) const { return fmt::format("{}:{}", file_, number); }

bool TextLines::next(std::string& line) {
  StopCheck()();
  if (!std::getline(input_, line)) {
    if (input_.bad()) fail_environment(where_, "{}: cannot be read", file_);
    return false;
  }
  bytes_ += static_cast<std::int64_t>(line.size()) + (input_.eof() ? 0 : 1);
  if (++number_ == 1) {
    check(!line.starts_with("\xFF\xFE") && !line.starts_with("\xFE\xFF"), where_,
          "{}: the text must be UTF-8, but it begins with the byte order mark of UTF-16", place(1));
    if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  }
  if (line.ends_with('\r')) line.pop_back();
  if (const auto zero = line.find('\0'); zero != line.npos)
    fail(where_, "{}: byte {} is NUL; the text must be UTF-8", place(number_), zero + 1);
  if (const auto byte = find_invalid_utf8(line))
    fail(where_, "{}: byte {} (0x{:02x}) is not UTF-8", place(number_), *byte + 1,
         static_cast<unsigned char>(line[*byte]));
  return true;
}

}  // namespace pushdown
