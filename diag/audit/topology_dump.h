#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "diag/audit/evidence.h"

namespace ringside::audit {

/// One line of NCCL's topology dump.
struct DumpedNode {
  std::int16_t indent = 0;
  float bw = -1;  ///< GB/s, of the link above
  std::string link = {}, type = {}, id = {}, details = {};
};

/// `=== System : ... ===` and what stands below it, as one process of a host dumped it.
struct TopologyDump {
  std::string host = {};
  std::uint32_t speaker = 0;
  float max_bw = -1, total_bw = -1;  ///< GB/s
  bool is_whole = false;             ///< its last line was seen
  bool is_damaged = false;           ///< lines of it are torn
  bool goes_on = false;              ///< of a shard: its beginning is in an earlier one
  std::vector<DumpedNode> nodes = {};
  Evidence evidence = {};
};

/// `Pattern p, ..., nChannels n, bw .., type A/B, ...`, of the processes that say the same.
struct PatternFact {
  int pattern = -1, cross_nic = -1, nchannels = -1;
  float bw_intra = -1, bw_inter = -1;
  std::string type_intra = {}, type_inter = {};
  Evidence evidence = {};

  /// They are alike but for the rate between hosts.
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

}  // namespace ringside::audit
