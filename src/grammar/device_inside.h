// Probabilities of many strings on a CUDA device (kernel/grammar/device_grammar.h).
#pragma once
#include <cstddef>
#include <memory>

#include "grammar/grammar.h"
#include "kernel/grammar/device_grammar.h"

namespace pushdown {

// Returns log G(w) of each word, computed on the current device, like log_probability() of
// inside.h. Processes as many strings at a time as fit into 64 MiB of charts, at least one. Throws
// std::invalid_argument if an id is outside the alphabet, std::runtime_error if there is no device
// or too little memory.
std::vector<double> device_log_probabilities(const Grammar& grammar,
                                             const std::vector<Word>& words);

// ---- Data passed to the device. ----

// Tables for a device's memory, stored one after another, and pointers into them that are set once
// the start address is known.
class DeviceImage {
 public:
  template <class T>
  std::size_t put(const std::vector<T>& table) {
    return put(table.data(), table.size() * sizeof(T));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  template <class T>
  static const T* at(const void* first, std::size_t place) {
    return reinterpret_cast<const T*>(static_cast<const std::byte*>(first) + place);
  }
  void replace(std::size_t place, const void* table, std::size_t size);

 private:
  std::size_t put(const void* table, std::size_t size);
  std::vector<std::byte> bytes_;
};

// The normal form of a grammar in an image.
class GrammarImage {
 public:
  GrammarImage(const Grammar& grammar, DeviceImage& image);
  // Returns the grammar without its pointers, for its sizes.
  const DeviceGrammar& sizes() const { return grammar_; }
  // Sets the pointers of the image for memory that starts at `first`.
  void point(DeviceImage& image, const void* first) const;
  std::size_t place() const { return place_; }

 private:
  DeviceGrammar grammar_{};
  std::size_t rule_begin_, rules_, pairs_, closure_begin_, closure_, place_;
};

// A batch of strings of one grammar.
class InsideBatch {
 public:
  InsideBatch(const Grammar& grammar, const std::vector<Word>& words);
  std::int64_t strings() const { return strings_; }
  std::int64_t numbers() const { return numbers_; }  // size of the memory in numbers
  const DeviceImage& image_for(const void* first);
  DeviceInside work(const void* first, double* memory, double* results) const;

 private:
  DeviceImage image_;
  GrammarImage grammar_;
  std::int64_t strings_ = 0, numbers_ = 0;
  std::size_t symbols_ = 0, begin_ = 0, place_ = 0;
};

}  // namespace pushdown
