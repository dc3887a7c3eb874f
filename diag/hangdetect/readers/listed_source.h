#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/process_stacks.h"

namespace ringside::hang {

/// Source code that a person pasted with line numbers, as editors and `grep -n` print it: `164      tot +=
/// loss.item()`, `231: dist.barrier()`.
class ListedSource {
 public:
  /// Takes a line of the paste. Lines without source are ignored.
  void take(std::string_view line);

  /// Sets the activity of stacks to GpuWait if they seem to compute but their frame's source line waits for the GPU.
  /// Only stacks whose frames match the source are changed.
  void mark_gpu_waits(std::vector<ProcessStack>& stacks) const;

 private:
  [[nodiscard]] std::string_view at(std::int64_t line) const;
  std::map<std::int64_t, std::string> lines_;
};

}  // namespace ringside::hang
