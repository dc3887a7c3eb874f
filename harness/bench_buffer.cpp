#include "harness/bench_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/free_memory.h"

namespace ringside {
namespace {

constexpr std::align_val_t kPage{4096};
constexpr const char* kHelp = "take a smaller largest size (-e)";

}  // namespace

void BenchBuffer::Free::operator()(std::byte* memory) const { ::operator delete[](memory, kPage); }

Result<BenchBuffer> BenchBuffer::make(std::size_t size, bool is_shared) {
  BenchBuffer buffer;
  const std::size_t bytes = std::max<std::size_t>(size, 1);
  if (is_shared) {
    RINGSIDE_TRY(buffer.shared_, SharedMemory::allocate(Bytes{bytes}));
    buffer.data_ = buffer.shared_->data();
  } else {
    // new[] may promise more memory than there is: the kernel would kill a process while the buffer is filled.
    RINGSIDE_TRY(check_memory(Bytes{bytes}, "a buffer", kHelp));
    buffer.own_.reset(new (kPage, std::nothrow) std::byte[bytes]);
    buffer.data_ = buffer.own_.get();
  }
  if (buffer.data_ == nullptr) {
    return Error{ErrorCode::System, fmt::format("no memory for a buffer of {} bytes", size), kHelp};
  }
  std::memset(buffer.data_, kPoison, bytes);
  return buffer;
}

}  // namespace ringside
