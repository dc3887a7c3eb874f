#include "tests/support/peak_memory.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace ringside {
namespace {

std::int64_t peak_of_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  struct rusage usage = {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) std::abort();
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

std::int64_t peak_memory_of(const std::function<void()>& work) {
  const std::int64_t peak = peak_of_child(work);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::min<std::int64_t>(peak, 0);
#else
  return peak - peak_of_child([] {});
#endif
}

}  // namespace ringside
