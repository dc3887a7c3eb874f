#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diag/audit/benchmark_table.h"
#include "diag/audit/capability_lines.h"
#include "diag/audit/link_matrix.h"
#include "diag/audit/message_log.h"
#include "diag/audit/plain_lines.h"
#include "diag/facts/facts.h"

/// The tables that a shard of the logs and, after joining, the job have in common.
namespace ringside::audit {

/// One line of NCCL's topology dump.
struct DumpedNode {
  std::int16_t indent = 0;
  float bw = -1;  ///< GB/s, of the link above
  std::string link = {}, type = {}, id = {}, details = {};
};

/// `=== System : ... ===` and the lines below it, as one process of a host dumped it.
struct TopologyDump {
  std::string host = {};
  std::uint32_t speaker = 0;
  float max_bw = -1, total_bw = -1;  ///< GB/s
  bool is_whole = false;             ///< its last line was seen
  bool is_damaged = false;           ///< lines of it are torn
  bool goes_on = false;              ///< of a shard: its beginning is in an earlier shard
  std::vector<DumpedNode> nodes = {};
  Evidence evidence = {};
};

/// `Pattern p, ..., nChannels n, bw .., type A/B, ...`, of the processes that print the same.
struct PatternFact {
  int pattern = -1, cross_nic = -1, nchannels = -1;
  float bw_intra = -1, bw_inter = -1;
  std::string type_intra = {}, type_inter = {};
  Evidence evidence = {};

  /// Whether they are equal except for the rate between hosts.
  friend bool operator==(const PatternFact& a, const PatternFact& b) {
    const auto key = [](const PatternFact& one) {
      return std::tie(one.pattern, one.cross_nic, one.nchannels, one.bw_intra, one.type_intra,
                      one.type_inter);
    };
    return key(a) == key(b);
  }
};

/// A version of NCCL or RCCL that a line names.
struct VersionFact {
  bool is_rccl = false, is_of_benchmark = false, is_of_text = false;
  int code = 0;
  std::string toolkit = {};
};

/// Things that many lines print alike: of a shard by its speakers (Said), of the job by its processes (SaidBy).
template <typename Who>
struct SaidTables {
  using ByTwo = std::map<std::pair<std::string, std::string>, Who>;

  ByTwo exports = {};                                           ///< that a script set: name, value
  ByTwo net_devices = {};                                       ///< net and list; empty: none found
  ByTwo bootstraps = {};                                        ///< interface and address
  std::map<std::string, Who> networks = {};                     ///< `Using network`
  std::map<std::string, Who> versions = {};                     ///< text
  std::map<std::pair<std::string, bool>, Who> gdr_of_hca = {};  ///< net and whether enabled
  std::map<int, Who> results = {};                              ///< ncclResult
  std::map<int, Who> channel_counts = {};                       ///< collective channels
  Who slow_inits = {};                                          ///< Init timings of 30 s or more
};

/// Things that single lines state. The lines are of speakers in a shard, of processes in the job.
struct StatedLists {
  std::map<std::string, VersionFact> version_facts = {};
  std::vector<PatternFact> patterns = {};
  std::vector<TopologyDump> dumps = {};
  std::vector<BenchmarkTable> tables = {};
  std::vector<XidFact> xids = {};
  std::vector<PythonErrorFact> python_errors = {};
  std::vector<RasFact> ras = {};
  std::vector<CapabilityFact> capabilities = {};
  std::vector<LinkMatrix> matrices = {};
  MessageLog messages = {};
  facts::Facts stated = {};  ///< by the rows of the catalogue; settled once all shards are joined
  AllPlainLines plain = {};
  UnreadLines unread = {};
  std::size_t longest_ring =
      0;  ///< ranks, of an order that a line gives, whatever its communicator
};

}  // namespace ringside::audit
