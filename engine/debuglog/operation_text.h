#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/vocabulary.h"
#include "engine/debuglog/version.h"
#include "engine/tuning/select.h"
#include "ringside/units.h"

/// What is said of each operation: messages without prefix.
/// source  docs/formats 3.1, 3.2
namespace ringside {

/// A collective as a rank calls it; COLL.
struct CallFacts {
  Collective collective = Collective::AllReduce;
  std::uint64_t op_count = 0;
  std::uint64_t send_buffer = 0, recv_buffer = 0;
  std::uint64_t count = 0;  ///< elements
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  int root = 0;
  std::uint64_t comm = 0;
  int nranks = 1;
  std::uint64_t stream = 0;
};
std::string call_text(const CallFacts& call);

/// What was chosen for it; TUNING.
/// bytes        of the larger buffer
/// cga_cluster  blocks of a cluster; 2.31+
std::string choice_text(NcclVersion version, Bytes bytes, const TunedChoice& choice,
                        int cga_cluster = 0);

/// What a collective asked for, and what was chosen for it with its predicted time; TUNING, 2.31+. Of the request the
/// members that docs/formats D.2 names.
std::vector<std::string> best_tuning_text(const CallFacts& call, const TunedChoice& choice);

/// The predicted latency and bandwidth of everything, which rank 0 shows; TUNING. In blocks of three
/// algorithms from 2.23 on; from 2.31 on a pair that is not allowed shows its numbers, or -1.
/// unit  us, GB/s
std::vector<std::string> tuning_table_text(NcclVersion version, const CostTable& table);

}  // namespace ringside
