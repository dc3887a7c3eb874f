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

/// Tables of facts that both a shard of the logs and, after joining, the job contain.
namespace ringside::audit {

/// One line of NCCL's topology dump.
struct DumpedNode {
  std::int16_t indent = 0;
  float bw = -1;  ///< GB/s of the link to its parent
  std::string link = {}, type = {}, id = {}, details = {};
};

/// `=== System : ... ===` and the lines below it, as one process of a host dumped it.
struct TopologyDump {
  std::string host = {};
  std::uint32_t speaker = 0;
  float max_bw = -1, total_bw = -1;  ///< GB/s
  bool is_whole = false;             ///< the last line was seen
  bool is_damaged = false;           ///< some lines are torn
  bool goes_on = false;              ///< the beginning is in an earlier shard
  std::vector<DumpedNode> nodes = {};
  Evidence evidence = {};
};

/// A line `Pattern p, ..., nChannels n, bw .., type A/B, ...`. Processes with the same line share one fact.
struct PatternFact {
  int pattern = -1, cross_nic = -1, nchannels = -1;
  float bw_intra = -1, bw_inter = -1;  ///< GB/s of one channel
  std::string type_intra = {}, type_inter = {};
  Evidence evidence = {};

  /// Compares all fields except bw_inter and the evidence.
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

/// Facts that many processes print in the same form. `Who` holds the writers: the speakers of a shard (Said), or the
/// processes of the job (SaidBy).
template <typename Who>
struct SaidTables {
  using ByTwo = std::map<std::pair<std::string, std::string>, Who>;

  ByTwo exports = {};      ///< variables that a script sets: name, value
  ByTwo net_devices = {};  ///< network and device list; empty list: no device found
  ByTwo bootstraps = {};   ///< interface and address
  std::map<std::string, Who> networks = {};  ///< `Using network`
  std::map<std::string, Who> versions = {};  ///< text
  /// network, and whether GPUDirect RDMA is enabled
  std::map<std::pair<std::string, bool>, Who> gdr_of_hca = {};
  std::map<int, Who> results = {};         ///< ncclResult
  std::map<int, Who> channel_counts = {};  ///< collective channels
  Who slow_inits = {};                     ///< initialisation took 30 s or more
};

/// Facts that single lines state. Their `process` is a speaker in a shard, and a process in the job.
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
  /// Facts from the catalogue's rows; settled when the shards are joined
  facts::Facts stated = {};
  AllPlainLines plain = {};
  UnreadLines unread = {};
  std::size_t longest_ring = 0;  ///< number of ranks in the longest ring order of any line
};

}  // namespace ringside::audit
