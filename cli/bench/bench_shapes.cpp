#include "cli/bench/bench_shapes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <span>

#include "base/host_name.h"
#include "base/suggest.h"

namespace ringside::cli {
namespace {

/// What each rank sends the others about itself.
struct Card {
  std::int32_t pid = 0;
  std::array<char, 64> host{};
  std::array<char, 64> name{};
};

void put(std::array<char, 64>& field, const std::string& text) {
  std::memcpy(field.data(), text.data(), std::min(text.size(), field.size() - 1));
}

}  // namespace

Result<BenchShape> parse_shape(const std::string& text, Collective collective) {
  if (text.empty()) return BenchShape::Ringside;
  if (text == "nccl-tests") {
    RINGSIDE_TRY(check_nccl_tests(collective));
    return BenchShape::NcclTests;
  }
  if (text == "osu") {
    if (collective != Collective::SendRecv) return BenchShape::Osu;
    return Error{ErrorCode::InvalidArgument,
                 "--like osu: its latency test of two ranks is a ping-pong, which send_recv is not",
                 "omit --like, or give a collective"};
  }
  constexpr std::array<std::string_view, 2> kKnown{"nccl-tests", "osu"};
  return Error{ErrorCode::InvalidArgument, fmt::format("--like {}", text),
               suggestion(text, kKnown)};
}

Result<std::vector<BenchMember>> gather_members(runtime::Communicator& communicator,
                                                const std::string& device_name) {
  Card mine;
  mine.pid = static_cast<std::int32_t>(::getpid());
  put(mine.host, host_name("localhost"));
  put(mine.name, device_name);
  RINGSIDE_TRY(const std::vector<std::byte> all,
               communicator.all_gather_bytes(std::as_bytes(std::span(&mine, 1))));
  std::vector<BenchMember> members;
  std::map<std::string, std::int32_t> of_host;
  for (std::size_t at = 0; at + sizeof(Card) <= all.size(); at += sizeof(Card)) {
    Card card;
    std::memcpy(&card, all.data() + at, sizeof card);
    const std::string host(card.host.data());
    members.push_back({card.pid, of_host[host]++, host, card.name.data()});
  }
  return members;
}

namespace {

/// The title of the OSU test, and what its sizes count.
struct OsuTest {
  Collective collective;
  const char* title;
  bool is_per_rank;  ///< the size is one rank's part of the whole
};

constexpr OsuTest kOsuTests[] = {
    {Collective::AllReduce, "Allreduce", false},
    {Collective::Reduce, "Reduce", false},
    {Collective::Broadcast, "Broadcast", false},
    {Collective::ReduceScatter, "Reduce_scatter", false},
    {Collective::AllGather, "Allgather", true},
    {Collective::AllGatherV, "Allgatherv", true},
    {Collective::AllToAll, "All-to-All Personalized Exchange", true},
    {Collective::Gather, "Gather", true},
    {Collective::Scatter, "Scatter", true},
};

const OsuTest* osu_test(Collective collective) {
  for (const OsuTest& one : kOsuTests) {
    if (one.collective == collective) return &one;
  }
  return nullptr;
}

}  // namespace

std::string osu_head(const BenchJob& job) {
  const OsuTest* test = osu_test(job.options.collective);
  return fmt::format("\n# OSU MPI {} Latency Test v5.9\n{:<10}{:>18}\n",
                     test == nullptr ? "" : test->title, "# Size", "Avg Latency(us)");
}

std::string osu_line(const BenchJob& job, const BenchRow& row) {
  const OsuTest* test = osu_test(job.options.collective);
  const auto parts =
      static_cast<std::uint64_t>(test != nullptr && test->is_per_rank ? job.nranks : 1);
  return fmt::format("{:<10}{:>18.2f}\n", row.bytes.value / parts,
                     row.out_of_place.mean.count() * 1e6);
}

}  // namespace ringside::cli
