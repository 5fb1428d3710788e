// Readers of files and texts with arbitrary inputs. A target is a function of bytes that must
// return for any of them. It may refuse them with a message that names the place, but must not
// crash, leak, hang or throw anything else.
//
// Each file of this folder makes a program with libFuzzer (CMake preset `fuzz`). It is also a part
// of test_fuzz, which runs the kept inputs, tests/fuzz/NAME/*, and mutations of them. An input that
// has ever failed is kept there as found-*.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown::fuzz {

using Target = void (*)(std::string_view);

struct NamedTarget {
  std::string name;
  Target run;
};
inline std::vector<NamedTarget>& targets() {
  static std::vector<NamedTarget> list;
  return list;
}
struct Registration {
  Registration(const char* name, Target run) { targets().push_back({name, run}); }
};

// An error that a target has found. No target catches it, so it ends the program.
struct Failure : std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool condition, const std::string& text) {
  if (!condition) throw Failure(text);
}

// Runs `action`. Returns true if it refused its input, which it may do by std::invalid_argument or
// std::runtime_error with a message of the form "[where] what is wrong".
template <class Action>
bool refused(const Action& action) {
  const auto check_message = [](const std::exception& error) {
    require(std::string_view(error.what()).starts_with("["),
            std::string("a message without a place: ") + error.what());
  };
  try {
    action();
    return false;
  } catch (const std::invalid_argument& error) {
    check_message(error);
  } catch (const std::runtime_error& error) {
    check_message(error);
  }
  return true;
}

// The result of reading must be readable after it is written, and be written the same way again.
template <class Write, class Read>
void round_trip(const Write& write, const Read& read) {
  const std::string first = write();
  std::string second;
  try {
    second = read(first);
  } catch (const std::exception& error) {
    throw Failure("what was written is refused: " + std::string(error.what()) + "\n" + first);
  }
  require(first == second, "written differently the second time:\n" + first + "\n---\n" + second);
}

}  // namespace pushdown::fuzz

#ifdef PUSHDOWN_LIBFUZZER
#define PUSHDOWN_FUZZ_ENTRY(name)                                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) { \
    fuzz_##name({reinterpret_cast<const char*>(bytes), count});                         \
    return 0;                                                                           \
  }
#else
#define PUSHDOWN_FUZZ_ENTRY(name) \
  static const pushdown::fuzz::Registration registration_##name(#name, fuzz_##name);
#endif

// FUZZ_TARGET(name) { ... bytes ... } at namespace scope, where `name` is that of the file.
#define FUZZ_TARGET(name)                    \
  static void fuzz_##name(std::string_view); \
  PUSHDOWN_FUZZ_ENTRY(name)                  \
  static void fuzz_##name(std::string_view bytes)
