#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/benchmark_table.h"
#include "diag/audit/evidence.h"
#include "diag/logparse/parse_logs.h"

namespace ringside::audit {

/// A JSON report that could not be read completely.
struct UnreadReport {
  logs::Place place;          ///< first line of the report
  bool is_too_large = false;  ///< larger than kMaxReport; false: it ends early
};

/// Reads JSON reports of nccl-tests (`-J`) and ncclras (`-f json`) in a log, on one line or on several. parse_logs()
/// does not split a report between shards.
///
/// Memory  a report of more than kMaxReport bytes is dropped and counts as unread. Reading a report takes ten times its
///         size. Other JSON text is dropped after eight lines, and text that is nested more than 64 deep at once.
class JsonLines {
 public:
  /// Returns whether a line belongs to a report that has begun, or may begin one.
  [[nodiscard]] bool wants(std::string_view line) const {
    return !text_.empty() || (!line.empty() && line.front() == '{');
  }

  /// Takes a line. At the end of a report, appends its content to the lists.
  void take(const logs::Record& record, std::vector<BenchmarkTable>& tables,
            std::vector<RasFact>& ras);

  /// Returns the dropped reports, and the one that has not ended yet.
  [[nodiscard]] std::vector<UnreadReport> unread() const;

 private:
  struct Line {
    std::size_t at = 0;  ///< in text_
    logs::Place place;
  };
  void forget();
  [[nodiscard]] QuotedLine quote_at(std::size_t at) const;
  /// Returns the line with the next `"key"` after `from`, and sets `from` to the end of that key.
  [[nodiscard]] QuotedLine quote_key(std::string_view key, std::size_t& from) const;
  void read_benchmark(const nlohmann::json& report, std::vector<BenchmarkTable>& tables) const;
  void read_ras(const nlohmann::json& report, std::vector<RasFact>& ras) const;

  std::string text_ = {};
  std::vector<Line> lines_ = {};
  std::uint32_t speaker_ = 0;
  int depth_ = 0;
  bool is_in_text_ = false, is_escaped_ = false;
  std::vector<UnreadReport> unread_ = {};
};

}  // namespace ringside::audit
