#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/job/process_ranks.h"

namespace ringside::hang {

/// Statements whose lines name a process id or a GPU, of the kernel or of a launcher: which rank that is may stand in a
/// later line, or in another file.
///
/// Ownership  the facts must outlive it
class LineOwners {
 public:
  explicit LineOwners(LogFacts& facts) : facts_(facts) {}

  [[nodiscard]] job::ProcessRanks& ranks() { return ranks_; }

  /// The newest statement is of this process, if there are more statements than `before`.
  void ask_process(std::size_t before, const logs::Record& record, std::string_view host);
  /// The statement at that place in the facts is of this process.
  void ask_process_of(std::size_t statement, std::int64_t pid, std::string_view host);
  /// Likewise, of a GPU.  bus_id  -1: the line names none
  void ask_gpu(std::size_t before, const logs::Record& record, std::string_view host,
               std::int64_t bus_id);

  /// Names the ranks, once every line is read. Who is killed for want of memory and is a rank ended by that.
  void settle();

 private:
  struct Question {
    std::size_t statement = 0;
    std::string host;
    std::int64_t pid = -1;
    std::int64_t bus_id = -1;
  };
  LogFacts& facts_;
  job::ProcessRanks ranks_;
  std::vector<Question> open_;
};

}  // namespace ringside::hang
