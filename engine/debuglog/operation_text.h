#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/vocabulary.h"
#include "engine/debuglog/version.h"
#include "engine/tuning/select.h"
#include "ringside/units.h"

/// The messages about each operation, without prefix.
/// source  docs/formats 3.1, 3.2
namespace ringside {

/// A rank's call of a collective, logged under COLL.
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

/// Returns the line on the choice for a collective; TUNING.
/// bytes        size of the larger buffer
/// cga_cluster  thread blocks of a cluster; 2.31+
std::string choice_text(NcclVersion version, Bytes bytes, const TunedChoice& choice,
                        int cga_cluster = 0);

/// Returns the lines on a collective's request, with the members that docs/formats D.2 names, and on its choice and
/// predicted time; TUNING, 2.31+.
std::vector<std::string> best_tuning_text(const CallFacts& call, const TunedChoice& choice);

/// Returns rank 0's table of the predicted latency and bandwidth of all combinations; TUNING. From 2.23 on it has
/// blocks of three algorithms; from 2.31 on a combination that is not allowed shows its numbers, or -1.
/// unit  us, GB/s
std::vector<std::string> tuning_table_text(NcclVersion version, const CostTable& table);

}  // namespace ringside
