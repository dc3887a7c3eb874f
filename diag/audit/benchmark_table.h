#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diag/audit/evidence.h"

namespace ringside::audit {

/// A rank in the header of nccl-tests. -1 and empty: not printed.
struct BenchmarkDevice {
  std::int32_t rank = -1, pid = -1, device = -1;
  std::string host = {}, pci = {}, gpu = {};
  QuotedLine quoted = {};
};

/// A row of nccl-tests' table.
struct BenchmarkLine {
  std::uint64_t bytes = 0;
  float time_us = -1,
        busbw_gbs = -1;     ///< GB/s of the faster half (out-of-place or in-place); -1: not printed
  float wrong = 0;          ///< wrong elements, of the worse half
  float expected_gbs = -1;  ///< busbw that the model predicts; -1: no prediction
  QuotedLine quoted = {};
};

/// One run of nccl-tests: its ranks and the rows of its table.
struct BenchmarkTable {
  std::string collective = {};  ///< "all_reduce"; empty: unknown
  std::vector<BenchmarkDevice> devices = {};
  std::vector<BenchmarkLine> rows = {};
  Evidence begin = {};           ///< the header lines of the run
  Evidence average = {};         ///< `# Avg bus bandwidth`
  Evidence stopped = {};         ///< a last row with a size and no result
  float average_gbs = -1;        ///< average busbw; -1: not printed
  std::string expected_of = {};  ///< hosts that the prediction assumes; empty: unknown
  bool has_known_nics = false;   ///< the NICs of these hosts are known
  bool is_announced = false;     ///< the first header line was seen, not only the column headings
  bool has_heading = false, has_redop = false, is_concluded = false;
  std::uint32_t speaker = 0;
};

/// A GPU or NVSwitch fault in the kernel log (logs::Xid).
struct XidFact {
  std::int32_t code = -1, pid = -1;
  std::int64_t bus_id = -1;
  bool is_switch = false, is_fatal = false;
  std::string text = {};
  QuotedLine quoted = {};
};

/// An uncaught Python exception.
struct PythonErrorFact {
  std::string type, text;
  std::int32_t rank = -1;  ///< rank in the launcher's prefix; -1: unknown
  QuotedLine quoted = {};
};

/// A communicator or rank of an ncclras report.
struct RasFact {
  bool is_rank = false, is_dead = false, is_missing = false;
  std::int32_t rank = -1, nranks = -1, missing = -1;
  std::int64_t operation = -1;
  std::string status = {}, errors = {}, host = {};
  /// For a communicator: asynchronous error (ncclResult) by rank
  std::map<std::int32_t, std::int32_t> held = {};
  QuotedLine quoted = {};
};

}  // namespace ringside::audit
