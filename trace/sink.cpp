#include "trace/sink.h"

#include <unistd.h>

#include <algorithm>

#include "trace/encode.h"
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

Status write_dumps(TraceSink& sink, const std::map<std::int32_t, std::string>& dumps) {
  BlockEncoder encoder;
  const auto pid = static_cast<std::uint32_t>(::getpid());
  for (const auto& [rank, dump] : dumps) {
    const auto bytes = std::as_bytes(std::span(dump));
    for (std::size_t at = 0; at < bytes.size(); at += BlockEncoder::kMostDumpBytes) {
      const auto part =
          bytes.subspan(at, std::min(bytes.size() - at, BlockEncoder::kMostDumpBytes));
      RINGSIDE_TRY(sink.write(encoder.dump({rank, at, bytes.size(), part}, pid)));
    }
  }
  return {};
}

}  // namespace ringside
