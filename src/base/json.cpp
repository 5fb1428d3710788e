#include "base/json.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/stopping.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace pushdown {
namespace {

[[noreturn]] void fail_to_parse(std::size_t place, const std::string& what) {
  throw nlohmann::json::parse_error::create(101, place, what, nullptr);
}

// Reads a text and looks whether it is to stop, once in a while.
class TextReader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TextReader(const char* at, const StopCheck& stop) : at_(at), stop_(&stop) {}
  reference operator*() const { return *at_; }
  TextReader& operator++() {
    if (reinterpret_cast<std::uintptr_t>(++at_) % kBetweenLooks == 0) (*stop_)();
    return *this;
  }
  bool operator==(const TextReader& other) const { return at_ == other.at_; }

 private:
  static constexpr std::uintptr_t kBetweenLooks = 1 << 14;  // bytes

  const char* at_;
  const StopCheck* stop_;
};

// Builds the value of a text, in constant time for each name: a large table gets an index of its
// names while it is read. nlohmann's own builder compares each name with all before it.
class Builder {
 public:
  Builder(bool throws, bool distinct_names) : throws_(throws), distinct_names_(distinct_names) {}

  Json result;
  bool failed = false;

  // The calls of the parser.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_array() { return close(); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool end_object() { return close(); }
  bool key(std::string& name) {
    Open& table = open_.back();
    auto& entries = table.value->get_ref<Json::object_t&>();
    const std::size_t place = table.place_of(entries, name);
    if (place < entries.size() && distinct_names_ && open_.size() == 1)
      fail_to_parse(0, fmt::format("the name '{}' occurs twice", name));
    if (place == entries.size()) entries.emplace_back(std::move(name), Json());
    member_ = &entries.begin()[static_cast<std::ptrdiff_t>(place)].second;
    return true;
  }
  template <class Error>
  bool parse_error(std::size_t, const std::string&, const Error& error) {
    failed = true;
    if (throws_) throw error;
    return false;
  }

 private:
  struct Open {
    static constexpr std::size_t kFewNames = 16;  // are compared one by one

    Json* value;
    std::unordered_map<std::string, std::size_t> places;

    // Returns the place of a name, which is the size if it is new.
    std::size_t place_of(const Json::object_t& entries, const std::string& name) {
      if (entries.size() < kFewNames)
        return static_cast<std::size_t>(entries.find(name) - entries.begin());
      for (std::size_t i = places.size(); i < entries.size(); ++i)
        places.emplace((entries.begin() + static_cast<std::ptrdiff_t>(i))->first, i);
      return places.emplace(name, entries.size()).first->second;
    }
  };

  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back({place(std::move(value)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  Json* place(Json value) {
    if (open_.empty()) return &(result = std::move(value));
    Json& around = *open_.back().value;
    if (around.is_object()) return &(*member_ = std::move(value));
    auto& list = around.get_ref<Json::array_t&>();
    return &list.emplace_back(std::move(value));
  }

  const bool throws_, distinct_names_;
  std::vector<Open> open_;  // from the outermost to the innermost
  Json* member_ = nullptr;  // of the innermost table: the value that follows
};

Json parse(std::string_view text, bool throws, bool distinct_names) {
  const StopCheck stop;
  stop();
  Builder builder(throws, distinct_names);
  Json::sax_parse(TextReader(text.data(), stop), TextReader(text.data() + text.size(), stop),
                  &builder);
  return builder.failed ? Json(Json::value_t::discarded) : std::move(builder.result);
}

// Returns the position of the bracket that opens level kDeepestJson + 1, or npos. In invalid JSON
// the count may be wrong after the position where the parser stops.
std::size_t too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return text.npos;
}

}  // namespace

Json try_parse_json(std::string_view text) {
  if (too_deep(text) != text.npos) return Json(Json::value_t::discarded);
  return parse(text, false, false);
}

Json parse_json(std::string_view text, bool distinct_names) {
  if (const auto place = too_deep(text); place != text.npos)
    fail_to_parse(place + 1,
                  fmt::format("lists and tables are nested more than {} deep", kDeepestJson));
  return parse(text, true, distinct_names);
}

std::string json_error(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const auto end = text.starts_with("[json.exception.") ? text.find("] ") : text.npos;
  return std::string(end == text.npos ? text : text.substr(end + 2));
}

}  // namespace pushdown
