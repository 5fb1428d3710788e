#include "bindings/shell/stack_size.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/check.h"

namespace pushdown {

void require_stack() {
  constexpr rlim_t kLeast = 1 << 20, kUsual = 8 << 20;  // bytes
  rlimit limit = {};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  if (limit.rlim_max < kLeast)
    fail_environment("stack",
                     "the limit of the stack is too small: expected at least {} kB, got {} kB; "
                     "start the program after 'ulimit -s {}'",
                     kLeast / 1024, limit.rlim_max / 1024, kUsual / 1024);
  limit.rlim_cur = std::min(kUsual, limit.rlim_max);
  ::setrlimit(RLIMIT_STACK, &limit);
  // The C library has read the limit for threads when the program started.
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, limit.rlim_cur);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace pushdown
