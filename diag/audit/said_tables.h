#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diag/audit/benchmark_table.h"
#include "diag/audit/capability_lines.h"
#include "diag/audit/link_matrix.h"
#include "diag/audit/message_log.h"
#include "diag/audit/plain_lines.h"
#include "diag/audit/topology_dump.h"
#include "diag/facts/facts.h"

/// What a shard of the logs and, once all are joined, the job have alike.
namespace ringside::audit {

/// Things that many lines say alike: of a shard by its speakers (Said), of the job by its processes (SaidBy).
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

/// Things that a line states for itself. The lines are of speakers in a shard, of processes in the job.
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
