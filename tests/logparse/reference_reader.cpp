#include "tests/logparse/reference_reader.h"

#include <algorithm>
#include <regex>

namespace ringside::logs {
namespace {

struct Rule {
  const char* kind;
  std::regex shape;
  /// The type of each field: (w)ord, he(x) of 64 bits, or a decimal number that fits (s)16, (i)nt32, (u)int64 bits.
  const char* fields;
};

bool fits(const std::string& digits, const std::string& most) {
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  const std::size_t size = digits.size() - zeros;
  return size < most.size() || (size == most.size() && digits.substr(zeros) <= most);
}

bool fits(char type, const std::string& field) {
  switch (type) {
    case 's':
      return fits(field, "32767");
    case 'i':
      return fits(field, "2147483647");
    case 'u':
      return field.size() <= 19;  // digits of a number that fits 64 bits
    case 'x':
      return field.size() - (field.starts_with("0x") ? 2 : 0) <= 16;
    default:
      return true;
  }
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"channel_edge",
       std::regex(R"(Channel (\d+)(?:/(\d+))? : (\d+)\[([0-9a-f]+)\] -> (\d+)\[([0-9a-f]+)\] via )"
                  R"((P2P/IPC|P2P/CUMEM|P2P/direct pointer|SHM/direct/direct)(/read)? *)"),
       "ssixixww"},
      {"channel_edge",
       std::regex(
           R"(Channel (\d+)(?:/(\d+))? : (\d+)\[([0-9a-f]+)\] -> (\d+)\[([0-9a-f]+)\] )"
           R"(\[(send|receive)\] via NET/([A-Za-z0-9_ ]+)/(\d+)(?:\((\d+)\))?(/GDRDMA)?(/Shared)? *)"),
       "ssixixwwiiww"},
      {"comm_event",
       std::regex(
           R"((?:(nccl\w+) )?comm (0x[0-9a-f]+) rank (\d+) nranks (\d+) cudaDev (\d+)(?: nvmlDev (\d+))?)"
           R"((?: busId ([0-9a-f]+))?(?: commId (0x[0-9a-f]+))? - (Init START|Init COMPLETE|)"
           R"(Destroy COMPLETE|Abort COMPLETE) *)"),
       "wxiissxxw"},
      {"channel_counts",
       std::regex(R"((\d+) coll channels, (?:(\d+) collnet channels, )?(?:(\d+) nvls channels, )?)"
                  R"((\d+) p2p channels, (\d+) p2p channels per peer *)"),
       "iiiii"},
      {"coll_call",
       std::regex(
           R"((AllReduce|Broadcast|Reduce|AllGather|ReduceScatter|Send|Recv): opCount ([0-9a-f]+) sendbuff \S+ recvbuff \S+ count (\d+) datatype (\d+) op (\d+) )"
           R"(root (\d+) comm (0x[0-9a-f]+) \[nranks=(\d+)\] stream \S+ *)"),
       "wxusiixi"},
      {"ring_neighbours", std::regex(R"(Ring (\d+) : (\d+) -> (\d+) -> (\d+) *)"), "iiii"},
      {"network_in_use", std::regex(R"(Using network ([A-Za-z0-9_]+) *)"), "w"},
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
    ReferenceLine found{prefix[1], prefix[2], prefix[3], prefix[4], rule.kind, {}, true};
    for (std::size_t i = 1; i < match.size(); ++i) {
      found.fields.push_back(match[i]);
      found.is_in_range = found.is_in_range && fits(rule.fields[i - 1], match[i]);
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace ringside::logs
