#include "train/records/safetensors.h"

#include <cstring>

#include "fuzz/fuzz.h"

namespace pushdown {

// The first byte tells whether the rest is a file, or a header. A header gets its length and, as
// the second byte says, a number of bytes of data.
FUZZ_TARGET(safetensors) {
  if (bytes.size() < 2) return;
  std::string file(bytes.substr(1));
  if (bytes[0] % 2 != 0) {
    const auto count = static_cast<unsigned char>(bytes[1]);
    file = bytes.substr(2);
    const std::uint64_t size = file.size();
    file.insert(0, reinterpret_cast<const char*>(&size), sizeof size);
    file.append(count, 'x');
  }
  fuzz::refused([&] {
    const TensorFile content = parse_safetensors(file, "file");
    fuzz::round_trip([&] { return safetensors_bytes(content); },
                     [](const std::string& again) {
                       return safetensors_bytes(parse_safetensors(again, "file"));
                     });
  });
}

}  // namespace pushdown
