#include "diag/hangdetect/verdict/connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ringside::hang {
namespace {

constexpr std::size_t kConnectionsShown = 8;

std::string text_of(const ConnectionProgress& one) {
  return fmt::format("rank {} -> rank {}, channel {}: {} chunks sent, {} received", one.sender,
                     one.receiver, one.channel, one.sent, one.received);
}

}  // namespace

std::vector<ConnectionProgress> stalled_connections(
    const std::vector<ConnectionProgress>& connections) {
  std::set<int> waiting;
  for (const ConnectionProgress& one : connections) {
    if (one.is_lacking()) waiting.insert(one.receiver);
  }
  std::vector<ConnectionProgress> stalled;
  for (const ConnectionProgress& one : connections) {
    if (one.is_under_way() && waiting.count(one.receiver) == 0) stalled.push_back(one);
  }
  return stalled;
}

void name_connections(const std::vector<ConnectionProgress>& connections, const Job& job,
                      Explanation& explanation) {
  if (connections.empty() || explanation.kind == Kind::NotAHang) return;
  if (explanation.kind != Kind::NetworkStall) {
    for (const ConnectionProgress& one : connections) {
      if (!one.is_lacking() || explanation.details.size() >= kConnectionsShown) continue;
      explanation.details.push_back(
          fmt::format("rank {} waits for chunk {} of rank {} on channel {}", one.receiver,
                      one.received, one.sender, one.channel));
    }
    return;
  }
  const std::vector<ConnectionProgress> stalled = stalled_connections(connections);
  if (stalled.empty()) return;
  const ConnectionProgress& first = stalled.front();
  const RankDump* dump = job.rank(first.receiver).dump;
  for (const ConnectionProgress& one : stalled) {
    if (explanation.details.size() < kConnectionsShown) explanation.details.push_back(text_of(one));
    if (explanation.evidence.size() < kConnectionsShown && dump != nullptr) {
      explanation.evidence.push_back({dump->path, -1, -1, text_of(one)});
    }
  }
  const bool is_one = stalled.size() == 1;
  explanation.why +=
      fmt::format("; {} from rank {} to rank {} on channel {}{} never arrived",
                  is_one ? "what was sent" : "among others, what was sent", first.sender,
                  first.receiver, first.channel, is_one ? " alone" : "");
  if (is_one) explanation.confidence = std::max(explanation.confidence, 0.8);
}

}  // namespace ringside::hang
