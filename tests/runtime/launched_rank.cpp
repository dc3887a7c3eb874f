// One rank of a launched job: meets the others, gathers all ranks, prints them. With an argument the
// rank of that number never joins, and the others print the error that they get.

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <thread>

#include "engine/runtime/bootstrap/rendezvous.h"
#include "engine/runtime/watch/watch.h"

namespace ringside {
namespace {

constexpr Nanoseconds kShort = std::chrono::seconds(1);
constexpr Nanoseconds kPlenty = std::chrono::seconds(20);

Result<std::string> meet(const LaunchInfo& info, Nanoseconds join_timeout) {
  RINGSIDE_TRY(const Rendezvous meeting, rendezvous(info, join_timeout));
  RINGSIDE_TRY(const auto bootstrap, Bootstrap::join({.rank = Rank{info.rank},
                                                      .nranks = info.nranks,
                                                      .id = meeting.id,
                                                      .ticket = meeting.ticket,
                                                      .listen = meeting.listen,
                                                      .join_timeout = join_timeout}));
  RINGSIDE_TRY(const auto all, bootstrap->all_gather(std::as_bytes(std::span(&info.rank, 1))));
  std::string text =
      fmt::format("rank {} of {} met by {}:", info.rank, info.nranks, meeting.method);
  for (std::size_t at = 0; at < all.size(); at += sizeof(int)) {
    int rank = -1;
    std::memcpy(&rank, &all[at], sizeof rank);
    text += fmt::format(" {}", rank);
  }
  RINGSIDE_TRY(const auto watch, Watch::start(*bootstrap, {}));
  RINGSIDE_TRY(bootstrap->barrier());
  watch->goodbye();
  return text;
}

int run(const std::string& absent) {
  const auto info = launch_from_environment();
  if (!info || !*info) return 2;
  if (absent == std::to_string((*info)->rank)) {
    // mpirun would end the job if a rank exited before it has connected to mpirun.
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return 0;
  }
  const auto text = meet(**info, absent.empty() ? kPlenty : kShort);
  if (text) {
    fmt::print("{}\n", *text);
  } else {
    fmt::print("rank {}: {}\n", (*info)->rank, text.error().message);
  }
  return text.has_value() == absent.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) { return ringside::run(argc > 1 ? argv[1] : ""); }
