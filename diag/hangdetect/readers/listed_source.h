#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/process_stacks.h"

namespace ringside::hang {

/// Source that a person pasted with its numbers, as editors and `grep -n` show it: `164      tot += loss.item()`,
/// `231: dist.barrier()`.
class ListedSource {
 public:
  /// Takes a line of the paste; lines that are not source are ignored.
  void take(std::string_view line);

  /// Marks a process that seems to compute but is in a line that waits for its GPU, by the source, where its frames
  /// fit it.
  void mark_gpu_waits(std::vector<ProcessStack>& stacks) const;

 private:
  [[nodiscard]] std::string_view at(std::int64_t line) const;
  std::map<std::int64_t, std::string> lines_;
};

}  // namespace ringside::hang
