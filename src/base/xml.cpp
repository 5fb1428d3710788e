#include "base/xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/check.h"
#include "base/stopping.h"
#include "base/utf8.h"

namespace pushdown {
namespace {

constexpr std::size_t kDeepest = 100;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLead[more] | (code >> (6 * more)));
  for (int k = more - 1; k >= 0; --k) text += static_cast<char>(0x80 | ((code >> (6 * k)) & 0x3F));
}

class XmlReader {
 public:
  XmlReader(std::string_view where, std::string_view text, std::string_view file)
      : where_(where), text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    if (const auto byte = find_invalid_utf8(text_)) {
      at_ = *byte;
      stop("the file is not UTF-8 (byte 0x{:02x})", static_cast<unsigned char>(text_[at_]));
    }
  }

  XmlElement read() {
    XmlElement root;
    const StopCheck interrupted;
    bool found = false;
    while (at_ < text_.size()) {
      interrupted();
      if (skip("<?", "?>") || skip("<!--", "-->") || skip_doctype()) continue;
      if (accept("<![CDATA[")) {
        const auto end = find("]]>");
        add_text(std::string(text_.substr(at_, end - at_)));
        at_ = end + 3;
      } else if (accept("</")) {
        close(root, found);
      } else if (accept("<")) {
        if (found && open_.empty()) stop("a document has one outermost element, got a second one");
        found = true;
        open(root);
      } else {
        add_text(until("<"));
      }
    }
    if (!open_.empty())
      stop("the element <{}> of line {} is not closed", open_.back().name, open_.back().line);
    if (!found) stop("expected an XML element, got the end of the file");
    return root;
  }

 private:
  template <class... Args>
  [[noreturn]] void stop(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where_, "{}:{}: {}", file_, line(), fmt::format(format, std::forward<Args>(args)...));
  }
  int line() const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    return 1 + static_cast<int>(std::count(text_.begin() + counted_, end, '\n')) + lines_;
  }
  // Remembers the lines so far, so that long files are counted once.
  int line_here() {
    lines_ = line() - 1;
    counted_ = static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    return lines_ + 1;
  }

  bool accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::size_t find(std::string_view token) const {
    const auto end = text_.find(token, at_);
    if (end == text_.npos) stop("expected {}, got the end of the file", token);
    return end;
  }
  bool skip(std::string_view begin, std::string_view end) {
    if (!text_.substr(at_).starts_with(begin)) return false;
    at_ = find(end) + end.size();
    return true;
  }
  bool skip_doctype() {
    if (!text_.substr(at_).starts_with("<!DOCTYPE")) return false;
    const auto end = find(">");
    if (text_.substr(at_, end - at_).find('[') != text_.npos)
      stop("a document type with its own declarations is not supported");
    at_ = end + 1;
    return true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_white_space(text_[at_])) ++at_;
  }
  std::string name(const char* what) {
    const auto begin = at_;
    while (at_ < text_.size() && !is_white_space(text_[at_]) &&
           std::string_view("<>/='\"&").find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (begin == at_) stop("expected the name of {}", what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Reads text with entities up to the token or the end of the file.
  std::string until(std::string_view token) {
    std::string value;
    while (at_ < text_.size() && !text_.substr(at_).starts_with(token)) {
      if (text_[at_] == '&')
        value += entity();
      else
        value += text_[at_++];
    }
    return value;
  }
  std::string entity() {
    const auto end = text_.find(';', at_);
    if (end == text_.npos || end - at_ > 12) stop("expected an entity after &; & is written &amp;");
    const auto name = text_.substr(at_ + 1, end - at_ - 1);
    std::string value;
    if (name.starts_with('#')) {
      const bool hexadecimal = name.starts_with("#x");
      const auto digits = name.substr(hexadecimal ? 2 : 1);
      std::uint32_t code = 0;
      const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code,
                                                 hexadecimal ? 16 : 10);
      if (error != std::errc() || rest != digits.data() + digits.size() || code == 0 ||
          code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        stop("&{}; is no character", name);
      append_utf8(value, code);
    } else {
      constexpr std::pair<std::string_view, char> kEntities[] = {
          {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
      for (const auto& [known, character] : kEntities)
        if (name == known) value = character;
      if (value.empty()) stop("unknown entity &{};", name);
    }
    at_ = end + 1;
    return value;
  }

  void add_text(const std::string& text) {
    if (!open_.empty()) {
      open_.back().text += text;
    } else if (!trimmed(text).empty()) {
      stop("expected an XML element, got text");
    }
  }

  void open(XmlElement& root) {
    if (open_.size() == kDeepest) stop("elements are nested deeper than {}", kDeepest);
    const int here = line_here();
    open_.push_back({name("an element"), {}, "", {}, here});
    for (skip_blanks(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/';
         skip_blanks()) {
      auto key = name("an attribute");
      skip_blanks();
      if (!accept("=")) stop("expected = after the attribute {}", key);
      skip_blanks();
      const auto quote = text_.substr(at_, 1);
      if (!accept("\"") && !accept("'")) stop("expected the attribute {} in quotes", key);
      auto value = until(quote);
      if (!accept(quote)) stop("the value of the attribute {} has no closing quote", key);
      open_.back().attributes.emplace_back(std::move(key), std::move(value));
    }
    if (accept("/>")) return finish(root);
    if (!accept(">")) stop("the tag <{}> is not closed by >", open_.back().name);
  }

  void close(XmlElement& root, bool found) {
    const auto closed = name("the element to close");
    if (!found || open_.empty() || open_.back().name != closed)
      stop("</{}> closes no open element{}", closed,
           open_.empty() ? "" : fmt::format("; <{}> is open", open_.back().name));
    skip_blanks();
    if (!accept(">")) stop("the tag </{}> is not closed by >", closed);
    finish(root);
  }

  void finish(XmlElement& root) {
    auto element = std::move(open_.back());
    open_.pop_back();
    element.text = trimmed(element.text);
    if (open_.empty())
      root = std::move(element);
    else
      open_.back().children.push_back(std::move(element));
  }

  std::string_view where_, text_, file_;
  std::size_t at_ = 0;
  std::ptrdiff_t counted_ = 0;
  int lines_ = 0;
  std::vector<XmlElement> open_;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  const auto found = std::find_if(children.begin(), children.end(), [&](const XmlElement& element) {
    return element.name == wanted;
  });
  return found == children.end() ? nullptr : &*found;
}

const std::string* XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes)
    if (key == wanted) return &value;
  return nullptr;
}

XmlElement parse_xml(std::string_view where, std::string_view text, std::string_view file) {
  return XmlReader(where, text, file).read();
}

}  // namespace pushdown
