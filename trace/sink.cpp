#include "trace/sink.h"

#include "trace/format.h"

namespace ringside {

TraceMemorySink::TraceMemorySink() {
  const rtrace::FileHeader header;
  const auto start = std::as_bytes(std::span(&header, 1));
  bytes_.assign(start.begin(), start.end());
}

Status TraceMemorySink::write(std::span<const std::byte> block) {
  const std::lock_guard lock(mutex_);
  bytes_.insert(bytes_.end(), block.begin(), block.end());
  return {};
}

std::vector<std::byte> TraceMemorySink::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace ringside
