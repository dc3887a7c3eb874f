#include "study/explain/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/collectives/plan.h"
#include "sim/job_network.h"

namespace ringside::study {
namespace {

constexpr std::size_t kFirstRounds = 10;

int peers_of(Collective collective, int nranks) {
  if (nranks == 1) return 0;
  const bool is_one = collective == Collective::SendRecv || collective == Collective::Send ||
                      collective == Collective::Recv;
  return is_one ? 1 : nranks - 1;
}

ExchangeSize size_of(const ExchangeExplanation& all, Bytes bytes) {
  const int nranks = all.shape.nranks;
  const CallShape one{.count = 1, .type = DataType::Uint8};
  const Bytes each = call_bytes(all.calls.collective, one, nranks);
  ExchangeSize size{
      .bytes = bytes, .transfer = Bytes{bytes.value / each.value}, .parts = 1, .part = {}};
  const TransferCut cut =
      cut_transfer(static_cast<std::int64_t>(size.transfer.value),
                   {.chunk = all.shape.p2p_chunk,
                    .nranks = nranks,
                    .nodes = all.shape.nnodes,
                    .nchannels = all.channels,
                    .per_peer = std::min(all.shape.p2p_channels_per_peer, all.channels)});
  size.parts = cut.parts;
  size.part = Bytes{static_cast<std::uint64_t>(cut.each)};
  return size;
}

/// Returns the rank to which the path is explained: the second GPU of another node, if there is one. The path to the first
/// GPU would be the plain one, along one rail.
Rank far_rank(const std::vector<std::vector<Rank>>& nodes) {
  const std::vector<Rank>& last = nodes.size() > 1 ? nodes[1] : nodes[0];
  return last.size() > 1 ? last[1] : last[0];
}

}  // namespace

Result<bool> is_exchange(const ExplainQuestion& question) {
  if (question.calls.collective.empty() || question.job.on.empty()) return false;
  RINGSIDE_TRY(const Calls calls, parse_calls(question.calls));
  return is_point_to_point(calls.collective);
}

Result<ExchangeExplanation> explain_exchange(const ExplainQuestion& question) {
  RINGSIDE_TRY(const Calls calls, parse_calls(question.calls));
  if (!is_point_to_point(calls.collective)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} is not made of sends and receives", to_string(calls.collective))};
  }
  RINGSIDE_TRY(const TunedJob job,
               load_tuned_job(question.job, question.nccl.empty() ? std::string{kDefaultRelease}
                                                                  : question.nccl.back()));
  const Job& whole = job.asked.job;
  const std::vector<std::vector<Rank>>& nodes = whole.connection.channels.nodes;
  const ExchangeSchedule schedule = exchange_schedule(nodes, Rank{0});
  ExchangeExplanation all{
      .nccl = job.tuner.model().patch,
      .shape = job.shape(),
      .calls = calls,
      .channels = static_cast<int>(
          std::bit_floor(static_cast<unsigned>(std::max(job.shape().p2p_channels, 1)))),
      .peers = peers_of(calls.collective, job.shape().nranks),
      .block = schedule.block,
      .first_rounds = {schedule.rounds.begin(),
                       schedule.rounds.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                     kFirstRounds, schedule.rounds.size()))},
      .sizes = {},
      .far = far_rank(nodes),
      .way = {}};
  for (const Bytes bytes : calls.sizes) all.sizes.push_back(size_of(all, bytes));
  if (to_int(all.far) == 0) return all;
  const JobNetwork network(whole, std::nullopt, job.asked.topology, nullptr,
                           job.asked.job_fabric());
  for (const int link : network.route(Rank{0}, all.far, 0).links) {
    all.way.push_back(network.link(link).name);
  }
  all.is_relayed = network.is_relayed(Rank{0}, all.far, 0);
  return all;
}

}  // namespace ringside::study
