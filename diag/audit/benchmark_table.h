#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diag/audit/evidence.h"

namespace ringside::audit {

/// A rank as nccl-tests lists it.
struct BenchmarkDevice {
  std::int32_t rank = -1, pid = -1, device = -1;
  std::string host = {}, pci = {}, gpu = {};
  QuotedLine quoted = {};
};

struct BenchmarkLine {
  std::uint64_t bytes = 0;
  float time_us = -1, busbw_gbs = -1;  ///< of the better half
  float wrong = 0;                     ///< of the worse half
  float expected_gbs = -1;             ///< busbw that the model predicts
  QuotedLine quoted = {};
};

/// One table of nccl-tests: which ranks ran, and its rows.
struct BenchmarkTable {
  std::string collective = {};  ///< "all_reduce"; empty: unknown
  std::vector<BenchmarkDevice> devices = {};
  std::vector<BenchmarkLine> rows = {};
  Evidence begin = {};    ///< the lines that announce it
  Evidence average = {};  ///< `# Avg bus bandwidth`
  Evidence stopped = {};  ///< a last row with its size and no result
  float average_gbs = -1;
  std::string expected_of = {};  ///< the hosts of the prediction; empty: unknown hosts
  bool has_known_nics = false;   ///< of the hosts in expected_of
  bool is_announced = false;     ///< its first line was seen, not the columns' headings alone
  bool has_heading = false, has_redop = false, is_concluded = false;
  std::uint32_t speaker = 0;
};

struct XidFact {
  std::int32_t code = -1, pid = -1;
  std::int64_t bus_id = -1;
  bool is_switch = false, is_fatal = false;
  std::string text = {};
  QuotedLine quoted = {};
};

struct PythonErrorFact {
  std::string type, text;
  std::int32_t rank = -1;  ///< of the launcher's prefix
  QuotedLine quoted = {};
};

/// A communicator or rank of an ncclras report.
struct RasFact {
  bool is_rank = false, is_dead = false, is_missing = false;
  std::int32_t rank = -1, nranks = -1, missing = -1;
  std::int64_t operation = -1;
  std::string status = {}, errors = {}, host = {};
  std::map<std::int32_t, std::int32_t> held = {};  ///< of a communicator: rank to ncclResult
  QuotedLine quoted = {};
};

}  // namespace ringside::audit
