#include "engine/transport/shm/sealed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/transport/shm/mapping.h"

namespace ringside {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Result<Mapping> Mapping::map(int fd, std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (memory == MAP_FAILED) {
    return system_error(fmt::format("cannot map {} bytes of shared memory", size), errno);
  }
  return Mapping(static_cast<std::byte*>(memory), size);
}

Mapping::~Mapping() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
}

Result<UniqueFd> make_sealed_file(std::size_t size) {
  UniqueFd memory(::memfd_create("ringside", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return system_error("memfd_create", errno);
  if (::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) {
    return system_error(fmt::format("no {} bytes of shared memory", size), errno);
  }
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return system_error("F_ADD_SEALS", errno);
  return memory;
}

Result<std::size_t> sealed_size(int fd) {
  struct stat status {};
  // Only shrinking can hurt this process: it would kill it at its next access beyond the end.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (::fstat(fd, &status) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Error{ErrorCode::Corrupt, "the peer sent a file that is not sealed memory",
                 "use the same version on every rank"};
  }
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace ringside
