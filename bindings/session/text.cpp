// pd._text: operations of the core on texts and bytes for the library in scripts/lib.
#include "bindings/binder/text.h"

#include <cerrno>
#include <cstdio>

#include "base/base64.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "base/stopping.h"
#include "base/utf8.h"
#include "bindings/binder/bind.h"

namespace pushdown {
namespace {

std::optional<std::string> nearest(const std::string& wanted,
                                   const std::vector<std::string>& names) {
  const auto near = names_near(wanted, names);
  return near.empty() ? std::nullopt : std::optional(near.front());
}

std::string sha256_base64(const std::string& text) {
  Sha256 hash;
  hash.add(text);
  return base64(hash.bytes());
}

std::string visible(const std::string& text, std::optional<bool> one_line) {
  return without_controls(text, one_line.value_or(false));
}

std::string base64_of(const std::string& bytes) { return base64(bytes); }
std::string clean(const std::string& text, const std::optional<std::string>& replacement) {
  return valid_utf8(text, replacement.value_or("?"));
}

// The next line of standard input, of which `most` bytes are kept, and whether it has more. A line
// is there as soon as its end has come, and a zero byte is a byte like any other.
std::tuple<std::optional<std::string>, bool> read_line(std::size_t most) {
  const StopCheck stop;
  std::string line;
  bool cut = false;
  int byte;
  while ((byte = ::getc_unlocked(stdin)) != '\n') {
    if (byte == EOF) {
      stop();
      if (std::ferror(stdin) == 0 || errno != EINTR) break;
      std::clearerr(stdin);
    } else if (line.size() < most) {
      line.push_back(static_cast<char>(byte));
    } else {
      cut = true;
    }
  }
  if (byte == EOF && line.empty()) return {std::nullopt, false};
  return {std::move(line), cut};
}

}  // namespace

void bind_text(lua_State* L) {
  Module(L, "_text", "Texts and bytes.")
      .def<&nearest>(
          "nearest(wanted, names) -> string  Returns the name that was probably meant, or nil if "
          "none is near.")
      .def<&clean>(
          "clean(text, replacement='?') -> string  Returns the text with the replacement for every "
          "byte that is not UTF-8.")
      .def<&read_line>(
          "read_line(most) -> string, boolean  Returns the next line of standard input without its "
          "end, or nil after the last one. Of a longer line it returns the first `most` bytes, and "
          "true.")
      .def<&visible>(
          "visible(text, one_line) -> string  Returns the text with numbers in place of control "
          "characters, except for tabs and line ends in a text of several lines.")
      .def<&utf8_locale>(
          "utf8_locale() -> boolean  Returns whether the locale says that the terminal displays "
          "UTF-8.")
      .def<&base64_of>("base64(bytes) -> string  Returns the bytes in base64.")
      .def<&sha256_base64>(
          "sha256_base64(text) -> string  Returns the SHA-256 in base64, the form of hashes in a "
          "Content-Security-Policy.");
}

}  // namespace pushdown
