#include "train/records/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/options.h"
#include "tensor/stored_numbers.h"

namespace pushdown {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // the limit of the published reader
constexpr const char* kMetadataKey = "__metadata__";

std::uint64_t header_length(std::string_view bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  return length;
}

struct Entry {
  std::string name;
  const StoredType* type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin, end;
};

class TensorReader {
 public:
  TensorReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  TensorFile read() {
    const Json header = read_header();
    TensorFile content;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadataKey)
        content.metadata = metadata(value);
      else
        entries.push_back(entry(name, value));
    }
    check_layout(entries);
    for (const auto& entry : entries) content.tensors.emplace_back(entry.name, tensor(entry));
    return content;
  }

 private:
  template <class... Args>
  [[noreturn]] void corrupt(fmt::format_string<Args...> format, Args&&... args) const {
    fail_environment("safetensors", "'{}' is not a valid safetensors file: {}", file_,
                     fmt::format(format, std::forward<Args>(args)...));
  }

  Json read_header() {
    if (bytes_.size() < kLengthBytes)
      corrupt("{} bytes are too few for the header's length", bytes_.size());
    const std::uint64_t length = header_length(bytes_);
    if (length > kLargestHeader)
      corrupt("its header claims {} bytes, more than the {} allowed", length, kLargestHeader);
    if (length > bytes_.size() - kLengthBytes)
      corrupt("its header claims {} bytes, but only {} follow", length,
              bytes_.size() - kLengthBytes);
    const std::string_view text = bytes_.substr(kLengthBytes, length);
    data_ = bytes_.substr(kLengthBytes + length);
    if (text.empty() || text.front() != '{') corrupt("its header does not start with '{{'");
    try {
      Json header = parse_json(text, true);
      if (!header.is_object()) corrupt("its header is not a JSON object");
      return header;
    } catch (const nlohmann::json::exception& error) {
      corrupt("its header is not JSON ({})", json_error(error));
    }
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    std::map<std::string, std::string> result;
    if (!value.is_object()) corrupt("its metadata is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) corrupt("the metadata entry '{}' is not a text", key);
      result[key] = text.get<std::string>();
    }
    return result;
  }

  std::uint64_t natural(const std::string& name, const char* what, const Json& value) const {
    if (!value.is_number_integer() ||
        (!value.is_number_unsigned() && value.get<std::int64_t>() < 0))
      corrupt("tensor '{}': {} must be a number 0, 1, 2, ..., got {}", name, what, value.dump());
    return value.get<std::uint64_t>();
  }

  Entry entry(const std::string& name, const Json& value) const {
    for (const char* key : {"dtype", "shape", "data_offsets"})
      if (!value.is_object() || !value.contains(key)) corrupt("tensor '{}' has no {}", name, key);
    if (value.size() != 3) corrupt("tensor '{}' has entries that the format does not know", name);
    const Json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
    Entry result{name, nullptr, {}, 0, 0};
    if (dtype.is_string()) result.type = find_safetensors_type(dtype.get<std::string>());
    if (result.type == nullptr)
      corrupt("tensor '{}' has dtype {}, expected one of {}", name, dtype.dump(), readable_types());
    if (!shape.is_array()) corrupt("tensor '{}': the shape is not a list", name);
    std::vector<std::uint64_t> extents;
    for (const auto& size : shape) extents.push_back(natural(name, "a size", size));
    const auto count = element_count(extents);
    if (!count) corrupt("tensor '{}': the shape {} is too large", name, shape.dump());
    result.shape.assign(extents.begin(), extents.end());
    if (!offsets.is_array() || offsets.size() != 2)
      corrupt("tensor '{}': data_offsets must be two numbers", name);
    result.begin = natural(name, "an offset", offsets[0]);
    result.end = natural(name, "an offset", offsets[1]);
    if (result.begin > result.end || result.end > data_.size())
      corrupt("tensor '{}': offsets {} do not lie within the {} bytes of data", name,
              offsets.dump(), data_.size());
    const auto element = static_cast<std::uint64_t>(result.type->size);
    if ((result.end - result.begin) % element != 0 ||
        (result.end - result.begin) / element != *count)
      corrupt("tensor '{}': shape {} of {} does not fill {} bytes", name, shape.dump(),
              result.type->safetensors, result.end - result.begin);
    return result;
  }

  void check_layout(const std::vector<Entry>& entries) const {
    std::vector<const Entry*> order;
    for (const auto& entry : entries) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    std::uint64_t end = 0;
    for (const Entry* entry : order) {
      if (entry->begin < end) corrupt("tensor '{}' overlaps the one before it", entry->name);
      if (entry->begin > end) corrupt("there is a gap before tensor '{}'", entry->name);
      end = entry->end;
    }
    if (end != data_.size()) corrupt("{} bytes follow the last tensor", data_.size() - end);
  }

  Tensor tensor(const Entry& entry) const {
    try {
      return tensor_from_bytes(*entry.type, entry.shape,
                               data_.substr(entry.begin, entry.end - entry.begin));
    } catch (const std::invalid_argument& error) {
      corrupt("tensor '{}': {}", entry.name, error.what());
    }
  }

  std::string_view bytes_;
  const std::string& file_;
  std::string_view data_;
};

}  // namespace

const Tensor* TensorFile::find(std::string_view name) const {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return &tensor;
  return nullptr;
}

std::string safetensors_bytes(const TensorFile& content) {
  constexpr const char* kWhere = "safetensors.write";
  struct Item {
    const std::string* name;
    Tensor tensor;
    const StoredType* type;
  };
  std::vector<Item> items;
  std::set<std::string> names{kMetadataKey};
  for (const auto& [name, tensor] : content.tensors) {
    check(names.insert(name).second, kWhere, "the name '{}' is used twice or reserved", name);
    const auto* type = written_type(tensor.scalar_type());
    check(type != nullptr, kWhere,
          "tensor '{}' is {}; float32, float64, int64 and bool can be written", name,
          dtype_name(tensor.scalar_type()));
    items.push_back({&name, tensor.detach().to(at::kCPU).contiguous(), type});
  }
  // Writing wide numbers first keeps every tensor aligned to its element size.
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.type->size > b.type->size; });

  Json header = Json::object();
  if (!content.metadata.empty()) header[kMetadataKey] = content.metadata;
  std::uint64_t end = 0;
  for (const auto& item : items) {
    const std::uint64_t begin = end;
    end += static_cast<std::uint64_t>(item.tensor.numel() * item.type->size);
    header[*item.name] = {{"dtype", item.type->safetensors},
                          {"shape", item.tensor.sizes().vec()},
                          {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  for (const auto& item : items) bytes += bytes_of_tensor(item.tensor);
  return bytes;
}

bool begins_safetensors(std::string_view bytes) {
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == '{' &&
         header_length(bytes) <= kLargestHeader;
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& file_name) {
  return TensorReader(bytes, file_name).read();
}

void write_safetensors(const Path& path, const TensorFile& content) {
  write_file(path, safetensors_bytes(content));
}

TensorFile read_safetensors(const Path& path) {
  return parse_safetensors(read_file(path), path.string());
}

}  // namespace pushdown
