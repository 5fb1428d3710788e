#include "tensor/numpy_file.h"

#include "fuzz/fuzz.h"

namespace pushdown {

// An archive, an array, or the bytes after the first one as the header of an array of 8 bytes.
FUZZ_TARGET(numpy) {
  if (bytes.empty()) return;
  std::string file(bytes);
  if (bytes[0] == '{') {
    const auto size = static_cast<std::uint16_t>(std::min<std::size_t>(file.size(), 0xffff));
    file = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xff) +
           static_cast<char>(size >> 8) + file.substr(0, size) + "12345678";
  }
  fuzz::refused([&] {
    if (file.starts_with("PK")) {
      const ParameterList content = parse_npz(file, "file");
      if (content.empty()) return;
      fuzz::round_trip(
          [&] { return npz_bytes(content); },
          [](const std::string& again) { return npz_bytes(parse_npz(again, "file")); });
    } else {
      const Tensor content = parse_npy(file, "file");
      fuzz::round_trip(
          [&] { return npy_bytes(content); },
          [](const std::string& again) { return npy_bytes(parse_npy(again, "file")); });
    }
  });
}

}  // namespace pushdown
