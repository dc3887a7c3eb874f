#include "tests/logparse/reference_reader.h"

#include <regex>

namespace ringside::logs {
namespace {

struct Rule {
  const char* kind;
  std::regex shape;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"channel_edge",
       std::regex(R"(Channel (\d+)(?:/(\d+))? : (\d+)\[([0-9a-f]+)\] -> (\d+)\[([0-9a-f]+)\] via )"
                  R"((P2P/IPC|P2P/CUMEM|P2P/direct pointer|SHM/direct/direct)(/read)? *)")},
      {"channel_edge",
       std::regex(
           R"(Channel (\d+)(?:/(\d+))? : (\d+)\[([0-9a-f]+)\] -> (\d+)\[([0-9a-f]+)\] )"
           R"(\[(send|receive)\] via NET/([A-Za-z0-9_ ]+)/(\d+)(?:\((\d+)\))?(/GDRDMA)?(/Shared)? *)")},
      {"comm_event",
       std::regex(
           R"((?:(nccl\w+) )?comm (0x[0-9a-f]+) rank (\d+) nranks (\d+) cudaDev (\d+)(?: nvmlDev (\d+))?)"
           R"((?: busId ([0-9a-f]+))?(?: commId (0x[0-9a-f]+))? - (Init START|Init COMPLETE|)"
           R"(Destroy COMPLETE|Abort COMPLETE) *)")},
      {"channel_counts",
       std::regex(R"((\d+) coll channels, (?:(\d+) collnet channels, )?(?:(\d+) nvls channels, )?)"
                  R"((\d+) p2p channels, (\d+) p2p channels per peer *)")},
      {"coll_call",
       std::regex(
           R"((AllReduce|Broadcast|Reduce|AllGather|ReduceScatter|Send|Recv): opCount ([0-9a-f]+) sendbuff \S+ recvbuff \S+ count (\d+) datatype (\d+) op (\d+) )"
           R"(root (\d+) comm (0x[0-9a-f]+) \[nranks=(\d+)\] stream \S+ *)")},
      {"ring_neighbours", std::regex(R"(Ring (\d+) : (\d+) -> (\d+) -> (\d+) *)")},
      {"network_in_use", std::regex(R"(Using network ([A-Za-z0-9_]+) *)")},
  };
  return kRules;
}

}  // namespace

std::optional<ReferenceLine> read_plainly(const std::string& line) {
  static const std::regex kPrefix(
      R"(([A-Za-z0-9._-]+):(\d{1,9}):(\d{1,9}) \[(\d{1,4})\] NCCL INFO (.*))");
  std::smatch prefix;
  if (!std::regex_match(line, prefix, kPrefix)) return std::nullopt;
  const std::string text = prefix[5];
  for (const Rule& rule : rules()) {
    std::smatch match;
    if (!std::regex_match(text, match, rule.shape)) continue;
    ReferenceLine found{prefix[1], prefix[2], prefix[3], prefix[4], rule.kind, {}};
    for (std::size_t i = 1; i < match.size(); ++i) found.fields.push_back(match[i]);
    return found;
  }
  return std::nullopt;
}

}  // namespace ringside::logs
