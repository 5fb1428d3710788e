#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz/fuzz.h"
#include "task/token_file.h"

namespace pushdown {

FUZZ_TARGET(tokens) {
  static const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                            ("pushdown-fuzz-tokens-" + std::to_string(::getpid()));
  {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  fuzz::refused([&] {
    const TokenFile file(path);
    std::int64_t words = 0;
    for (std::int64_t i = 0; i < file.size(); ++i)
      for (const int word : file.sentence(i)) {
        fuzz::require(word >= 0 && word < file.alphabet().size(),
                      "a word outside of the vocabulary");
        ++words;
      }
    fuzz::require(words == file.word_count(), "another number of words");
    is_token_note(note_of(file));
  });
  fuzz::refused([&] { noted_file(bytes, path); });
  std::filesystem::remove(path);
}

}  // namespace pushdown
