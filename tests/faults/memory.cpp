// Makes allocations of a program fail. It is loaded in front of all other libraries (LD_PRELOAD),
// and the program itself controls it:
//
//   pushdown_fail_allocation(at, least)   of the allocations of `least` bytes and more from now on,
//                                         number `at` (from 1) finds no memory; 0: none does.
//                                         Returns how many there were since the last call.
//
// It counts the allocations of the C and C++ libraries, and anonymous maps, which LuaJIT uses. See
// tests/lua/memory_faults.lua.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

static std::atomic<long> number{0}, failing{0};
static std::atomic<std::size_t> smallest{~std::size_t{0}};
// The program keeps some memory for a second try. From this size on, the second try fails, too.
constexpr std::size_t kBeyondReserve = 16384;
static std::atomic<std::size_t> again{0};  // the size of the allocation that is tried again

long pushdown_fail_allocation(long at, std::size_t least) {
  smallest = ~std::size_t{0};
  const long counted = number.exchange(0);
  failing = at;
  again = 0;
  smallest = least;
  return counted;
}

static bool fails(std::size_t bytes) {
  if (bytes < smallest) return false;
  if (std::size_t same = bytes; again.compare_exchange_strong(same, 0)) return true;
  if (++number != failing) return false;
  again = bytes >= kBeyondReserve ? bytes : 0;
  return true;
}

static void* nothing() {
  errno = ENOMEM;
  return nullptr;
}

void* malloc(std::size_t size) { return fails(size) ? nothing() : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(count * size) ? nothing() : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return fails(size) ? nothing() : __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return fails(size) ? nothing() : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  void* const memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}

void* mmap(void* place, std::size_t size, int protection, int flags, int file, off_t offset) {
  using Map = void* (*)(void*, std::size_t, int, int, int, off_t);
  static const auto map = reinterpret_cast<Map>(::dlsym(RTLD_NEXT, "mmap"));
  if ((flags & MAP_ANONYMOUS) != 0 && protection != PROT_NONE && fails(size)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return map(place, size, protection, flags, file, offset);
}
void* mmap64(void* place, std::size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(place, size, protection, flags, file, offset);
}

}  // extern "C"
