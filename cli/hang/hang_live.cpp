#include "cli/hang/hang_live.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/temporary.h"
#include "base/write_file.h"
#include "engine/runtime/watch/status_service.h"

namespace ringside::cli {
namespace {

constexpr auto kBetween = std::chrono::seconds(2);
constexpr Nanoseconds kPatience = std::chrono::seconds(15);

/// Explains that nothing listens, most often because the job was started without the option.
Error with_help(Error error, std::uint16_t port) {
  if (error.code != ErrorCode::PeerGone && error.code != ErrorCode::Unreachable) return error;
  error.message = fmt::format("nothing listens on 127.0.0.1:{}", port);
  error.help = fmt::format(
      "start the job with `ringside bench --status {}`, or give the port of NCCL's RAS service "
      "(NCCL_RAS_ADDR, 28028 by default)",
      port);
  return error;
}

}  // namespace

Result<std::unique_ptr<hang::Examination>> examine_live(std::uint16_t port) {
  RINGSIDE_TRY(const TemporaryFolder reports, TemporaryFolder::make("live"));
  for (int i = 1; i <= 2; ++i) {
    if (i > 1) std::this_thread::sleep_for(kBetween);
    const auto report = ask_status(loopback_address(port), true, deadline_in(kPatience));
    if (!report) return with_help(report.error(), port);
    RINGSIDE_TRY(write_file(fmt::format("{}/ncclras-{}.json", reports.path(), i), *report));
  }
  RINGSIDE_TRY(hang::Examination all, hang::examine({reports.path()}));
  return std::make_unique<hang::Examination>(std::move(all));
}

}  // namespace ringside::cli
