#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "diag/hangdetect/readers/line_owners.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// What Ray says of its workers' processes: which rank each is, and which one died.
///
///     (TorchTrainer pid=71) - (node_id=9d1c, ip=10.0.0.7, pid=4711) world_rank=3, local_rank=1, node_rank=0
///     (RayTrainWorker pid=4711, ip=10.0.0.7) [rank3]:[E1 ...
///     ... where the task (actor ID: 7c0e, name=RayTrainWorker.__init__, pid=4711, memory used=98.11GB) was running ...
///
/// Ordering   lines come in the order of the log
/// Ownership  the facts and the owners must outlive it
class RayLines {
 public:
  RayLines(const LogFacts& facts, LineOwners& owners) : facts_(facts), owners_(owners) {}

  /// Whether the line may be one: most logs have none, and are long.
  [[nodiscard]] bool wants(const logs::Record& record) const {
    const auto begins = [](std::string_view text) {
      return text.starts_with('(') || text.starts_with("- (");
    };
    return lines_left_ > 0 || begins(record.line) || (record.text_at > 0 && begins(record.text()));
  }
  /// `rank`: whose line it is; -1: it does not say
  void take(std::string_view line, int rank);

  /// A line tells of a worker's death: `statement` is its place in the facts. This line or one of the next names the process.
  void expect_process(std::size_t statement, const logs::Record& record);

 private:
  void ask(std::string_view line);

  const LogFacts& facts_;
  LineOwners& owners_;
  std::size_t statement_ = 0;
  int lines_left_ = 0;  ///< in which the process may be named
  std::string host_;    ///< of it, as far as it was read
};

}  // namespace ringside::hang
