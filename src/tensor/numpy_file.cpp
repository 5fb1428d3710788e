#include "tensor/numpy_file.h"

#include <charconv>
#include <cstring>
#include <set>

#include "base/check.h"
#include "tensor/stored_numbers.h"
#include "tensor/zip_archive.h"

namespace pushdown {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kAlignment = 64;  // of the data in the file, as in files written by NumPy
constexpr const char* kWhere = "numpy";

template <class... Args>
[[noreturn]] void unsound(const std::string& name, fmt::format_string<Args...> format,
                          Args&&... args) {
  fail_environment(kWhere, "'{}' is not a valid NumPy file: {}", name,
                   fmt::format(format, std::forward<Args>(args)...));
}

// The content of an .npy header.
struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
};

// Parses the literal of a Python dictionary with the three keys of a NumPy header, and nothing
// else.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      if (!seen.insert(key).second) unsound(name_, "its header contains '{}' twice", key);
      expect(':');
      if (key == "descr")
        header.descr = description();
      else if (key == "fortran_order")
        header.fortran = boolean();
      else if (key == "shape")
        header.shape = shape();
      else
        unsound(name_, "its header has an unknown key '{}'", key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (seen.size() != 3) unsound(name_, "its header lacks 'descr', 'fortran_order' or 'shape'");
    skip_blanks();
    if (at_ != text_.size()) unsound(name_, "its header goes on after the dictionary");
    return header;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) unsound(name_, "its header lacks '{}' at byte {}", c, at_);
  }

  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = text_.find(quote, at_);
    if (end == text_.npos) unsound(name_, "its header contains an unterminated string");
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  std::string description() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
      unsound(name_, "it contains records, not numbers of one type");
    return quoted();
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)})
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    unsound(name_, "fortran_order is neither True nor False");
  }

  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> extents;
    expect('(');
    while (!accept(')')) {
      std::uint64_t extent = 0;
      const char* end = text_.data() + text_.size();
      skip_blanks();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, extent);
      if (error != std::errc()) unsound(name_, "a size in its shape is not a number 0, 1, 2, ...");
      at_ = stop - text_.data();
      extents.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

// Splits off the header's text; `bytes` keeps the data.
std::string_view split_header(std::string_view& bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic)) unsound(name, "it does not start with '\\x93NUMPY'");
  if (bytes.size() < 12) unsound(name, "{} bytes are too few for its header", bytes.size());
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const int version = byte(6);
  if (version < 1 || version > 3) unsound(name, "version {} of the format is unknown", version);
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= std::size_t{byte(10)} << 16 | std::size_t{byte(11)} << 24;
  if (length > bytes.size() - start)
    unsound(name, "its header claims {} bytes, but only {} follow", length, bytes.size() - start);
  const std::string_view text = bytes.substr(start, length);
  bytes.remove_prefix(start + length);
  return text;
}

std::string swapped(std::string_view bytes, std::int64_t size) {
  std::string result(bytes);
  for (std::size_t i = 0; i < result.size(); i += size)
    std::reverse(result.begin() + static_cast<std::ptrdiff_t>(i),
                 result.begin() + static_cast<std::ptrdiff_t>(i) + size);
  return result;
}

const StoredType& type_of(const std::string& descr, const std::string& name) {
  if (descr.find('O') != descr.npos)
    unsound(name,
            "it contains pickled objects, which are not supported because reading them runs code");
  const StoredType* type = descr.empty() ? nullptr : find_numpy_type(descr.substr(1));
  if (type == nullptr || std::strchr("<>|=", descr[0]) == nullptr)
    unsound(name, "numbers of type '{}' cannot be read", descr);
  return *type;
}

// PyTorch's own files are archives that contain a program for Python's unpickler.
bool made_by_pytorch(const ZipReader& archive) {
  return std::ranges::any_of(
      archive.entries(), [](const ZipEntry& entry) { return entry.name.ends_with("data.pkl"); });
}

}  // namespace

Tensor parse_npy(std::string_view bytes, const std::string& file_name) {
  const std::string_view text = split_header(bytes, file_name);
  NpyHeader header = NpyHeaderReader(text, file_name).read();
  const StoredType& type = type_of(header.descr, file_name);
  if (header.fortran) std::reverse(header.shape.begin(), header.shape.end());
  const auto count = element_count(header.shape);
  const auto size = static_cast<std::uint64_t>(type.size);
  if (!count) unsound(file_name, "its shape is too large");
  if (bytes.size() % size != 0 || bytes.size() / size != *count)
    unsound(file_name, "{} numbers of {} bytes do not fill its {} bytes of data", *count, size,
            bytes.size());
  const std::string turned = header.descr[0] == '>' ? swapped(bytes, type.size) : "";
  try {
    const Tensor tensor =
        tensor_from_bytes(type, {header.shape.begin(), header.shape.end()},
                          header.descr[0] == '>' ? std::string_view(turned) : bytes);
    if (!header.fortran) return tensor;
    std::vector<std::int64_t> order;
    for (auto i = tensor.dim(); i-- > 0;) order.push_back(i);
    return tensor.permute(order).contiguous();
  } catch (const std::invalid_argument& error) {
    unsound(file_name, "{}", error.what());
  }
}

ParameterList parse_npz(std::string_view bytes, const std::string& file_name) {
  const ZipReader archive(bytes, file_name);
  if (made_by_pytorch(archive))
    fail_environment(kWhere,
                     "'{}' is a PyTorch file, which contains a program: convert it to safetensors "
                     "with scripts/tools/from_pytorch.py",
                     file_name);
  ParameterList tensors;
  std::set<std::string> names;
  std::string buffer;
  for (const auto& entry : archive.entries()) {
    std::string name = entry.name;
    const std::string place = file_name + "/" + name;
    if (!name.ends_with(kSuffix)) unsound(place, "expected the name of an array, ending in .npy");
    name.resize(name.size() - kSuffix.size());
    if (!names.insert(name).second) unsound(file_name, "it contains two arrays '{}'", name);
    tensors.emplace_back(name, parse_npy(archive.content(entry, buffer), place));
  }
  return tensors;
}

std::string npy_bytes(const Tensor& tensor) {
  const StoredType* type = written_type(tensor.scalar_type());
  check(type != nullptr, kWhere, "a tensor of {} cannot be written; convert it first",
        dtype_name(tensor.scalar_type()));
  std::string shape;
  for (const auto extent : tensor.sizes()) shape += fmt::format("{}, ", extent);
  if (tensor.dim() > 1) shape.resize(shape.size() - 2);
  if (tensor.dim() == 1) shape.resize(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   type->size == 1 ? '|' : '<', type->numpy, shape);
  // Plus the ten bytes before the header and the newline after it.
  const std::size_t used = header.size() + 11;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return bytes + header + bytes_of_tensor(tensor);
}

std::string npz_bytes(const ParameterList& tensors) {
  check(!tensors.empty(), kWhere, "there is no array to write");
  std::set<std::string> names;
  ZipWriter archive;
  for (const auto& [name, tensor] : tensors) {
    check(!name.empty() && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos, kWhere,
          "the name '{}' of an array must not be empty or contain '/', '\\' or NUL", name);
    check(names.insert(name).second, kWhere, "the name '{}' is used twice", name);
    archive.add(name + std::string(kSuffix), npy_bytes(tensor));
  }
  return std::move(archive).finish();
}

}  // namespace pushdown
