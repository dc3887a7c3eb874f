#include "diag/logparse/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <utility>

#include "base/assert.h"

namespace ringside::logs {
namespace {

/// The mapping that a thread reads, for use by the signal handler.
struct Watched {
  char* volatile begin = nullptr;
  char* volatile end = nullptr;
  volatile std::sig_atomic_t was_cut = 0;
};
thread_local Watched watched;

std::mutex watch_mutex;
int mappings = 0;  // this and the next members are guarded by watch_mutex
// The handler is installed, or a handler that was installed later calls it.
bool is_watching = false;
struct sigaction sigbus_before {};
const auto page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Maps zeros in place of pages that the file no longer has. Calls only functions that are permitted in a signal
/// handler; mmap() is a plain system call.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  char* const at = static_cast<char*>(info->si_addr);
  if (watched.begin != nullptr && at >= watched.begin && at < watched.end) {
    char* const page = at - reinterpret_cast<std::uintptr_t>(at) % page_size;
    const auto left = static_cast<std::size_t>(watched.end - page);
    const void* const zeros =
        ::mmap(page, left, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros != MAP_FAILED) {
      watched.was_cut = 1;
      return;
    }
  }
  if ((sigbus_before.sa_flags & SA_SIGINFO) != 0) {
    return sigbus_before.sa_sigaction(signal, info, context);
  }
  if (sigbus_before.sa_handler != SIG_DFL && sigbus_before.sa_handler != SIG_IGN)
    return sigbus_before.sa_handler(signal);
  ::sigaction(SIGBUS, &sigbus_before, nullptr);  // the access is repeated and ends the program
}

void begin_watch() {
  const std::lock_guard lock(watch_mutex);
  ++mappings;
  if (is_watching) return;
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &sigbus_before);
  is_watching = true;
}

/// After the last mapping the handler is removed, unless another one was installed over it, which may still call it.
void end_watch() {
  const std::lock_guard lock(watch_mutex);
  if (--mappings > 0) return;
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  const bool is_ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error;
  if (!is_ours) return;
  ::sigaction(SIGBUS, &sigbus_before, nullptr);
  is_watching = false;
}

}  // namespace

Mapping::Mapping(int fd, std::uint64_t offset, std::size_t size) {
  void* const data =
      ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return;
  begin_watch();
  data_ = static_cast<char*>(data);
  size_ = size;
  ::madvise(data_, size_, MADV_SEQUENTIAL);
  watched.was_cut = 0;
  watched.end = data_ + size_;
  watched.begin = data_;
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

bool Mapping::was_cut() const { return data_ != nullptr && watched.was_cut != 0; }

void Mapping::release() {
  if (data_ == nullptr) return;
  if (watched.begin == data_) watched.begin = nullptr;
  ::munmap(data_, size_);
  data_ = nullptr;
  end_watch();
}

}  // namespace ringside::logs
