// Reads the lines of a UTF-8 text one after another, so the text may be larger than memory. Lines
// end in \n or \r\n; a byte order mark at the start is skipped.
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace pushdown {

class TextLines {
 public:
  // Messages begin with `where`; `file` is the name of the text in them. `input` must outlive the
  // object.
  TextLines(std::string_view where, std::istream& input, std::string file);

  // Reads the next line without its line end; returns false after the last one. Throws
  // std::invalid_argument "[where] file:line: ..." for bytes that are not UTF-8, NUL, and the
  // UTF-16 byte order mark; std::runtime_error if the stream cannot be read.
  bool next(std::string& line);

  int number() const { return number_; }         // number of the last line, from 1
  std::int64_t bytes() const { return bytes_; }  // read so far
  std::string place(int number) const;           // file:number

 private:
  std::string_view where_;
  std::istream& input_;
  std::string file_;
  int number_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace pushdown
