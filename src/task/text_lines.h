// The lines of a UTF-8 text one after another, so that it may be larger than memory. Lines end in
// \n or \r\n; a byte order mark in front is left out.
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace pushdown {

class TextLines {
 public:
  // `where` opens messages, `file` is the text's name in them. `input` must outlive the object.
  TextLines(std::string_view where, std::istream& input, std::string file);

  // The next line without its end; false behind the last. std::invalid_argument
  // "[where] file:line: ..." for bytes that are not UTF-8, NUL, and the mark of UTF-16;
  // std::runtime_error for a stream that cannot be read.
  bool next(std::string& line);

  int number() const { return number_; }         // of the last line, from 1
  std::int64_t bytes() const { return bytes_; }  // read until now
  std::string place(int number) const;           // file:number

 private:
  std::string_view where_;
  std::istream& input_;
  std::string file_;
  int number_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace pushdown
