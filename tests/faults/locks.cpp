// A file system without locks, as NFS without its lock daemon. It is loaded in front of all other
// libraries (LD_PRELOAD). See tests/lua/test_locks.lua.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>
#include <initializer_list>

namespace {

int control(const char* name, int file, int command, void* argument) {
  for (const int lock : {F_SETLK, F_SETLKW, F_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_OFD_GETLK})
    if (command == lock) {
      errno = ENOLCK;
      return -1;
    }
  const auto next = reinterpret_cast<int (*)(int, int, ...)>(::dlsym(RTLD_NEXT, name));
  return next(file, command, argument);
}

}  // namespace

extern "C" {

int fcntl(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  return control("fcntl", file, command, argument);
}

int fcntl64(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  return control("fcntl64", file, command, argument);
}
}
