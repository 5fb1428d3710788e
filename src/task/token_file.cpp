#include "task/token_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "task/running_text.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.sentences";
constexpr std::string_view kMagic = "pushdown tokens\n";
constexpr std::string_view kNote = "# pushdown sentences 1\n# checksum ";
static_assert(std::endian::native == std::endian::little);

template <class T>
std::string_view bytes_of(const T* first, std::size_t count) {
  return {reinterpret_cast<const char*>(first), count * sizeof(T)};
}

}  // namespace

void TokenFile::damaged(const std::string& what) const {
  fail_environment(kWhere, "'{}' {}; prepare the corpus again", path_.string(), what);
}

TokenFile::TokenFile(const Path& path) : path_(std::filesystem::absolute(path)) {
  map();
  try {
    read_footer();
  } catch (...) {
    ::munmap(const_cast<char*>(bytes_), byte_count_);
    throw;
  }
}

TokenFile::~TokenFile() { ::munmap(const_cast<char*>(bytes_), byte_count_); }

void TokenFile::map() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail_environment(kWhere, "cannot read '{}': {}", path_.string(), std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  byte_count_ = known ? static_cast<std::size_t>(status.st_size) : 0;
  void* mapped = byte_count_ >= kMagic.size()
                     ? ::mmap(nullptr, byte_count_, PROT_READ, MAP_SHARED, descriptor, 0)
                     : MAP_FAILED;
  const int error = errno;
  ::close(descriptor);
  if (byte_count_ < kMagic.size()) damaged("is not a file of sentences, or was cut off");
  if (mapped == MAP_FAILED)
    fail_environment(kWhere, "cannot map '{}': {}", path_.string(), std::strerror(error));
  bytes_ = static_cast<const char*>(mapped);
}

void TokenFile::read_footer() {
  if (std::string_view(bytes_, kMagic.size()) != kMagic) damaged("is not a file of sentences");
  std::uint64_t size = 0;
  if (byte_count_ < kMagic.size() + sizeof size) damaged("was cut off");
  std::memcpy(&size, bytes_ + byte_count_ - sizeof size, sizeof size);
  if (size > byte_count_ - kMagic.size() - sizeof size) damaged("was cut off");
  const char* footer = bytes_ + byte_count_ - sizeof size - size;
  try {
    const Json json = parse_json({footer, size});
    json.at("sentences").get_to(sentences_);
    json.at("words").get_to(words_);
    json.at("unknown").get_to(unknown_);
    json.at("shortest").get_to(shortest_);
    json.at("longest").get_to(longest_);
    json.at("checksum").get_to(checksum_);
    source_ = json.at("source");
    alphabet_ = Alphabet(json.at("vocabulary").get<std::vector<std::string>>());
    if (source_.is_object() && source_.contains("words")) {
      const auto words = source_["words"].get<std::size_t>();
      if (words >= kWordBorders.size()) damaged("is damaged");
      alphabet_.set_reading({static_cast<WordBorders>(words), source_.value("lower", false),
                             alphabet_.find(kUnknownWord) ? kUnknownWord : ""});
    }
  } catch (const nlohmann::json::exception&) {
    damaged("was cut off or is damaged");
  } catch (const std::invalid_argument& error) {
    damaged(fmt::format("has a damaged vocabulary ({})", error.what()));
  }
  const std::uint64_t rest = byte_count_ - kMagic.size() - sizeof size - size;
  const std::uint64_t words = static_cast<std::uint64_t>(words_),
                      sentences = static_cast<std::uint64_t>(sentences_);
  // Compared separately first, so that the sum cannot overflow.
  if (words_ < 0 || sentences_ < 1 || words > rest / 4 || sentences >= rest / 8)
    damaged("was cut off or is damaged");
  const std::uint64_t padded = (words + 1) / 2 * 2;
  if (padded * 4 + (sentences + 1) * 8 != rest) damaged("was cut off or is damaged");
  ids_ = reinterpret_cast<const std::int32_t*>(bytes_ + kMagic.size());
  starts_ = reinterpret_cast<const std::uint64_t*>(bytes_ + kMagic.size() + padded * 4);
  check_sentences();
}

// Checks everything that sentence() and the numbers in the footer rely on.
void TokenFile::check_sentences() const {
  const auto sentences = static_cast<std::size_t>(sentences_);
  const auto words = static_cast<std::uint64_t>(words_);
  std::uint64_t shortest = words, longest = 0;
  for (std::size_t i = 0; i < sentences; ++i) {
    if (starts_[i] > starts_[i + 1] || starts_[i + 1] > words)
      damaged(fmt::format("is damaged: sentence {} is outside the words", i + 1));
    shortest = std::min(shortest, starts_[i + 1] - starts_[i]);
    longest = std::max(longest, starts_[i + 1] - starts_[i]);
  }
  if (starts_[0] != 0 || starts_[sentences] != words)
    damaged("is damaged: its sentences do not cover its words");
  if (static_cast<std::uint64_t>(shortest_) != shortest ||
      static_cast<std::uint64_t>(longest_) != longest)
    damaged("is damaged: the lengths of its sentences are wrong");
  const auto vocabulary = static_cast<std::uint32_t>(alphabet_.size());
  for (std::uint64_t i = 0; i < words; ++i)
    if (static_cast<std::uint32_t>(ids_[i]) >= vocabulary)
      damaged(fmt::format("is damaged: word {} has the id {}, but the vocabulary has {} words",
                          i + 1, ids_[i], vocabulary));
  if (const auto sum = pushdown::checksum(bytes_of(ids_, words)); sum != checksum_)
    damaged(
        fmt::format("is damaged: the checksum of its words is {}, expected {}", sum, checksum_));
}

TokenFileWriter::TokenFileWriter(const Path& path, Alphabet vocabulary)
    : path_(path),
      vocabulary_(std::move(vocabulary)),
      unknown_id_(vocabulary_.find(kUnknownWord)),
      file_(path) {
  file_.write(kMagic);
}

void TokenFileWriter::add(const Word& sentence) {
  static_assert(sizeof(Word::value_type) == sizeof(std::int32_t));
  const auto bytes = bytes_of(sentence.data(), sentence.size());
  if (unknown_id_) unknown_ += std::count(sentence.begin(), sentence.end(), *unknown_id_);
  checksum_.add(bytes);
  file_.write(bytes);
  starts_.push_back(starts_.back() + sentence.size());
}

void TokenFileWriter::commit(const Json& source) {
  check(size() > 0, kWhere, "no sentences for '{}'", path_.string());
  const std::int32_t zero = 0;
  if (starts_.back() % 2 != 0) file_.write(bytes_of(&zero, 1));
  file_.write(bytes_of(starts_.data(), starts_.size()));
  auto shortest = starts_[1], longest = starts_[1];
  for (std::size_t i = 1; i + 1 < starts_.size(); ++i) {
    shortest = std::min(shortest, starts_[i + 1] - starts_[i]);
    longest = std::max(longest, starts_[i + 1] - starts_[i]);
  }
  const std::string footer = Json{
      {"vocabulary", vocabulary_.symbols()},
      {"sentences", size()},
      {"words", starts_.back()},
      {"unknown", unknown_},
      {"shortest", shortest},
      {"longest", longest},
      {"checksum", checksum_.text()},
      {"source", source}}.dump();
  const std::uint64_t bytes = footer.size();
  file_.write(footer);
  file_.write(bytes_of(&bytes, 1));
  file_.commit();
}

std::string note_of(const TokenFile& file) {
  return fmt::format("{}{}\n{}\n", kNote, file.checksum(), file.path().string());
}

bool is_token_note(std::string_view text) { return text.starts_with(kNote); }

TokenFilePtr noted_file(std::string_view note, const Path& note_file) {
  check(is_token_note(note), kWhere, "{} does not describe a file of sentences",
        note_file.string());
  note.remove_prefix(kNote.size());
  const auto line_end = std::min(note.find('\n'), note.size());
  const auto checksum = note.substr(0, line_end);
  note.remove_prefix(std::min(line_end + 1, note.size()));
  if (note.ends_with('\n')) note.remove_suffix(1);
  Path path(note);
  if (!std::filesystem::exists(path)) path = note_file.parent_path() / path.filename();
  if (!std::filesystem::exists(path))
    fail_environment(kWhere, "the sentences of '{}' are missing: neither '{}' nor '{}' exists",
                     note_file.string(), note, path.string());
  auto file = std::make_shared<const TokenFile>(path);
  if (file->checksum() != checksum)
    fail_environment(kWhere, "'{}' has changed since '{}' was written (checksum {}, was {})",
                     path.string(), note_file.string(), file->checksum(), checksum);
  return file;
}

}  // namespace pushdown
