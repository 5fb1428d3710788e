// Sentences on disk as word ids of a vocabulary, for training on a corpus that is larger than
// memory. The file is memory-mapped, so only the pages in use are in memory.
//
// Layout, numbers little-endian:
//   magic    16 bytes "pushdown tokens\n"
//   words    int32 each, sentence after sentence, then zeros up to a multiple of 8
//   starts   uint64 for every sentence and one after the last: index of its first word
//   footer   JSON: vocabulary, sentences, words, unknown, shortest, longest, checksum, source
//   size     uint64, bytes of the footer
// The footer is last so that the file can be written in one pass. It gives the sizes of all other
// parts, and a truncated file has no footer.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/options.h"
#include "grammar/alphabet.h"

namespace pushdown {

class TokenFile {
 public:
  // Reads the whole file once to verify its checksum. Throws std::runtime_error that names the file
  // if it is missing, of another format, truncated or damaged.
  explicit TokenFile(const Path& path);
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  ~TokenFile();

  const Path& path() const { return path_; }  // absolute
  const Alphabet& alphabet() const { return alphabet_; }
  std::int64_t size() const { return sentences_; }  // number of sentences
  std::int64_t word_count() const { return words_; }
  std::int64_t unknown_count() const { return unknown_; }
  std::int64_t shortest() const { return shortest_; }
  std::int64_t longest() const { return longest_; }
  // FNV-1a over the word ids.
  const std::string& checksum() const { return checksum_; }
  // The description of the origin that the writer stored.
  const Json& source() const { return source_; }

  // Returns the number of words of sentence i.
  std::int64_t length(std::int64_t i) const {
    return static_cast<std::int64_t>(starts_[i + 1] - starts_[i]);
  }
  std::span<const std::int32_t> sentence(std::int64_t i) const {
    return {ids_ + starts_[i], static_cast<std::size_t>(length(i))};
  }

 private:
  void map();
  void read_footer();
  void check_sentences() const;
  [[noreturn]] void damaged(const std::string& what) const;

  Path path_;
  Alphabet alphabet_;
  std::int64_t sentences_ = 0, words_ = 0, unknown_ = 0, shortest_ = 0, longest_ = 0;
  std::string checksum_;
  Json source_;
  const char* bytes_ = nullptr;  // the mapping
  std::size_t byte_count_ = 0;
  const std::int32_t* ids_ = nullptr;
  const std::uint64_t* starts_ = nullptr;
};
using TokenFilePtr = std::shared_ptr<const TokenFile>;

// Writes such a file, which exists only after commit(). Keeps 8 bytes per sentence in memory.
class TokenFileWriter {
 public:
  TokenFileWriter(const Path& path, Alphabet vocabulary);

  void add(const Word& sentence);
  std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  // Throws std::invalid_argument if there is no sentence.
  void commit(const Json& source);

 private:
  Path path_;
  Alphabet vocabulary_;
  std::optional<int> unknown_id_;
  FileWriter file_;
  std::vector<std::uint64_t> starts_{0};
  std::int64_t unknown_ = 0;
  Checksum checksum_;
};

// A reference to the file for a run folder, and the file that such a reference names: at its
// original path, or in the folder of the reference. Throws std::runtime_error if the file is
// missing or has changed.
//   # pushdown sentences 1
//   # checksum 0123456789abcdef
//   /where/it/is/train.tokens
std::string note_of(const TokenFile& file);
bool is_token_note(std::string_view text);
TokenFilePtr noted_file(std::string_view note, const Path& note_file);

}  // namespace pushdown
