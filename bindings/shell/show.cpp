#include "bindings/shell/show.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "bindings/binder/registry_keys.h"
#include "bindings/binder/text.h"

namespace pushdown {
namespace {

constexpr std::size_t kWidth = 80;        // columns of a line
constexpr int kDeepest = 6;               // nested tables
constexpr std::size_t kMostEntries = 60;  // of one table
constexpr std::size_t kLongest = 4000;    // bytes of one string inside a table

bool is_identifier(const std::string& text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string quoted(std::string text) {
  const bool cut = text.size() > kLongest;
  if (cut) text.resize(kLongest);
  const bool utf8 = !find_invalid_utf8(text);
  std::string result = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    char buffer[8];
    if (c == '\'' || c == '\\')
      (result += '\\') += c;
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (byte < 32 || byte == 127 || (byte >= 128 && !utf8)) {
      std::snprintf(buffer, sizeof buffer, "\\%03d", byte);
      result += buffer;
    } else
      result += c;
  }
  return result + (cut ? "'..." : "'");
}

// Returns tostring(value), or the names of the program's own modules and functions.
std::string plain(lua_State* L, int index) {
  lua_getglobal(L, "tostring");
  lua_pushvalue(L, index);
  lua_call(L, 1, 1);
  std::size_t size = 0;
  const char* text = lua_tolstring(L, -1, &size);
  std::string result = text ? std::string(text, size) : "?";
  lua_pop(L, 1);
  return result;
}

std::string documented_name(lua_State* L, int index) {
  lua_getfield(L, LUA_REGISTRYINDEX, kNamesKey);
  std::string name;
  if (lua_istable(L, -1)) {
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    if (lua_isstring(L, -1)) name = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return name;
}

bool has_metamethod(lua_State* L, int index, const char* name) {
  if (!luaL_getmetafield(L, index, name)) return false;
  lua_pop(L, 1);
  return true;
}

class Shower {
 public:
  explicit Shower(lua_State* L, std::size_t width) : L_(L), width_(width) {}

  std::string show(int index, std::size_t indent) {
    if (lua_type(L_, index) == LUA_TSTRING)
      return quoted(std::string(lua_tostring(L_, index), lua_objlen(L_, index)));
    const auto name = documented_name(L_, index);
    if (lua_type(L_, index) == LUA_TFUNCTION)
      return name.empty() ? plain(L_, index) : "function " + name;
    if (!lua_istable(L_, index) || has_metamethod(L_, index, "__tostring")) return plain(L_, index);
    if (!name.empty()) return "module " + name + " (see help(" + name + "))";
    return show_table(index, indent);
  }

 private:
  struct Entry {
    bool is_number = false;
    double number = 0;
    std::string key, text;
    std::string shown;  // the text of a key that is neither a number nor a string
  };

  std::string show_table(int index, std::size_t indent) {
    const void* identity = lua_topointer(L_, index);
    if (std::find(open_.begin(), open_.end(), identity) != open_.end()) return "<cycle>";
    if (open_.size() == kDeepest) return "{...}";
    luaL_checkstack(L_, 8, "nested too deeply");
    open_.push_back(identity);
    const auto parts = show_entries(index, indent);
    open_.pop_back();
    return join(parts, indent);
  }

  std::vector<std::string> show_entries(int index, std::size_t indent) {
    std::vector<std::string> parts;
    const auto size = lua_objlen(L_, index);
    for (std::size_t i = 1; i <= size && parts.size() < kMostEntries; ++i) {
      lua_rawgeti(L_, index, static_cast<int>(i));
      parts.push_back(show(lua_gettop(L_), indent + 2));
      lua_pop(L_, 1);
    }
    if (size > parts.size())
      parts.push_back("... " + std::to_string(size - parts.size()) + " more");
    std::vector<Entry> named = collect_keys(index, size, indent);
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (i == kMostEntries) {
        parts.push_back("... " + std::to_string(named.size() - i) + " more");
        break;
      }
      parts.push_back(named[i].key + " = " + show_field(index, named[i], indent));
    }
    return parts;
  }

  // Keys outside the list part: numbers first, then names.
  std::vector<Entry> collect_keys(int index, std::size_t list_size, std::size_t indent) {
    std::vector<Entry> entries;
    for (lua_pushnil(L_); lua_next(L_, index) != 0; lua_pop(L_, 1)) {
      const int key = lua_gettop(L_) - 1;
      Entry entry;
      if (lua_type(L_, key) == LUA_TNUMBER) {
        entry.is_number = true;
        entry.number = lua_tonumber(L_, key);
        const bool listed =
            entry.number >= 1 && entry.number <= static_cast<double>(list_size) &&
            entry.number == static_cast<double>(static_cast<long long>(entry.number));
        if (listed) continue;
        entry.key = "[" + plain(L_, key) + "]";
      } else if (lua_type(L_, key) == LUA_TSTRING) {
        entry.text.assign(lua_tostring(L_, key), lua_objlen(L_, key));
        entry.key = is_identifier(entry.text) ? entry.text : "[" + quoted(entry.text) + "]";
      } else {
        entry.key = "[" + plain(L_, key) + "]";
        entry.text = entry.key;
        entry.shown = show(key + 1, indent + 2);
      }
      entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      if (a.is_number != b.is_number) return a.is_number;
      return a.is_number ? a.number < b.number : a.text < b.text;
    });
    return entries;
  }

  std::string show_field(int index, const Entry& entry, std::size_t indent) {
    if (!entry.shown.empty()) return entry.shown;
    if (entry.is_number)
      lua_pushnumber(L_, entry.number);
    else
      lua_pushlstring(L_, entry.text.data(), entry.text.size());
    lua_rawget(L_, index);
    std::string text = show(lua_gettop(L_), indent + 2);
    lua_pop(L_, 1);
    return text;
  }

  // One line if it fits. Otherwise several short entries share a line, and each long entry has its
  // own lines.
  std::string join(const std::vector<std::string>& parts, std::size_t indent) const {
    std::size_t total = 2, longest = 0;
    bool lines = false;
    for (const auto& part : parts) {
      total += part.size() + 2;
      longest = std::max(longest, part.size());
      lines = lines || part.find('\n') != part.npos;
    }
    std::string text = "{";
    const bool one_line = !lines && indent + total <= width_;
    const std::string start = "\n" + std::string(indent + 2, ' ');
    std::size_t column = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool fits = !lines && longest <= 20 && column > 0 && column + parts[i].size() < width_;
      if (!one_line && !fits) {
        text += start;
        column = indent + 2;
      } else if (i > 0) {
        text += ' ';
      }
      text += parts[i];
      if (i + 1 < parts.size()) text += ',';
      column += parts[i].size() + 2;
    }
    if (!one_line && !parts.empty()) text += "\n" + std::string(indent, ' ');
    return text + "}";
  }

  lua_State* L_;
  std::size_t width_;
  std::vector<const void*> open_;
};

}  // namespace

std::string show_value(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TSTRING) return {lua_tostring(L, index), lua_objlen(L, index)};
  if (lua_type(L, index) == LUA_TUSERDATA && luaL_getmetafield(L, index, "__show")) {
    lua_pushvalue(L, index);
    lua_call(L, 1, 1);
    std::string text = lua_isstring(L, -1) ? lua_tostring(L, -1) : "?";
    lua_pop(L, 1);
    return text;
  }
  return Shower(L, kWidth).show(index, 0);
}

std::string show_values(lua_State* L) {
  constexpr std::size_t kShort = 60;
  std::vector<std::string> texts;
  bool lines = false;
  for (int i = 1, count = lua_gettop(L); i <= count; ++i) {
    texts.push_back(show_value(L, i));
    lines = lines || texts.back().find('\n') != std::string::npos || texts.back().size() > kShort;
  }
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    all += (i == 0 ? "" : lines ? "\n" : "\t") + texts[i];
  return all;
}

bool is_svg(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  std::string_view text(lua_tostring(L, index), lua_objlen(L, index));
  const auto skip_to = [&](std::size_t place) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n", place), text.size()));
  };
  skip_to(0);
  if (text.starts_with("<?xml")) skip_to(std::min(text.find('>') + 1, text.size()));
  return text.starts_with("<svg ") || text.starts_with("<svg>");
}

std::string show_line(lua_State* L, int index) {
  return Shower(L, std::size_t{1} << 40).show(index < 0 ? lua_gettop(L) + 1 + index : index, 0);
}

}  // namespace pushdown
