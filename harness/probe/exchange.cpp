#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "engine/runtime/communicator.h"
#include "harness/probe/pairs.h"

namespace ringside::probe {

Result<std::vector<HostReport>> exchange(runtime::Communicator& communicator,
                                         const HostReport& mine) {
  std::string message = to_message(mine);
  const std::uint64_t size = message.size();
  RINGSIDE_TRY(const std::vector<std::byte> sizes,
               communicator.all_gather_bytes(std::as_bytes(std::span(&size, 1))));
  std::vector<std::uint64_t> each(sizes.size() / sizeof size);
  std::memcpy(each.data(), sizes.data(), sizes.size());
  const std::uint64_t most = *std::max_element(each.begin(), each.end());
  // Limits the memory that a faulty peer makes every rank allocate.
  constexpr std::uint64_t kMost = 4 << 20;
  if (most > kMost) {
    return Error{ErrorCode::Corrupt, fmt::format("a rank sent a report of {} bytes", most),
                 "run the same ringside on all hosts"};
  }
  message.resize(static_cast<std::size_t>(most), ' ');
  RINGSIDE_TRY(const std::vector<std::byte> all,
               communicator.all_gather_bytes(std::as_bytes(std::span(message))));
  std::vector<HostReport> reports;
  for (std::size_t rank = 0; rank < each.size(); ++rank) {
    const auto* begin = reinterpret_cast<const char*>(all.data()) + rank * most;
    RINGSIDE_TRY(HostReport report, parse_report(std::string(begin, each[rank])));
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace ringside::probe
