#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of nccl-tests' output. Its other lines (header, verdicts, failures) are messages of the catalogue.
/// source  docs/formats 7.4
namespace ringside::logs {

/// `#  Rank  0 Group  0 Pid 25 on node-a device  0 [0x53] NVIDIA H100 80GB HBM3`
struct BenchmarkRank {
  static constexpr RecordKind kKind = RecordKind::BenchmarkRank;
  std::int32_t rank = -1, group = -1, pid = -1, device = -1;
  std::string_view host;
  std::string_view pci;   ///< `0x53`, `0000:1b:00`
  std::string_view name;  ///< name of the GPU
};

/// The row of column names.
struct BenchmarkHeading {
  static constexpr RecordKind kKind = RecordKind::BenchmarkHeading;
  bool has_redop = false, has_root = false;
  std::string_view names;  ///< `size count type redop root time algbw ...`
};

/// The out-of-place or in-place half of a row; -1: the row ends before it, or has N/A.
struct BenchmarkResult {
  float time_us = -1, algbw_gbs = -1, busbw_gbs = -1;
  float wrong = -1;  ///< wrong elements; up to nccl-tests 2.12 the largest error
};

/// A row of the table: one message size.
struct BenchmarkRow {
  static constexpr RecordKind kKind = RecordKind::BenchmarkRow;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::string_view type;   ///< `float`
  std::string_view redop;  ///< `sum`, `none`; empty where the table has no such column
  std::int32_t root = -1;
  BenchmarkResult out_of_place, in_place;
};

/// `# Avg bus bandwidth    : 48.2`
struct BenchmarkAverage {
  static constexpr RecordKind kKind = RecordKind::BenchmarkAverage;
  float busbw_gbs = -1;
  std::string_view verdict;  ///< `OK`, `FAILED` or empty
};

}  // namespace ringside::logs
