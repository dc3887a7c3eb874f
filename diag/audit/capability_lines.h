#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/record.h"

namespace ringside::audit {

/// A fact about a host or a container, from the output of a tool in the text.
struct CapabilityFact {
  enum class What : std::uint8_t {
    Command,      ///< a command whose output is in the text: `show_gids`
    Gid,          ///< an entry of a port's GID table: `index`; `value` is its version and address
    Memlock,      ///< the limit of locked memory; `value` is `unlimited` or a number of KiB
    Port,         ///< an RDMA port; `value` is `active` or `down`
    Package,      ///< an installed NCCL package; `value` is `nvidia-nccl-cu12 2.21.5`
    LargePacket,  ///< a large ping that may not be fragmented; `value` is `lost`, `index` its bytes
    NoPing,       ///< a ping of another size without an answer
    Device,       ///< /dev/infiniband in a container; `value` is `none`
  };
  What what = What::Command;
  std::string host;  ///< host in the prompt above the line; empty: unknown
  std::string device = {};
  std::string value = {};
  std::int32_t index = -1;
  QuotedLine quoted = {};
};

/// Reads the output of tools line by line. A shell prompt names the host of the lines below it, a heading the device.
class CapabilityLines {
 public:
  /// Takes a line and appends its facts.
  void take(const logs::Record& record, std::vector<CapabilityFact>& facts);

  /// Returns whether the previous line was a command, so that any next line may be its output.
  [[nodiscard]] bool awaits_answer() const { return is_answer_next_; }

 private:
  void take_prompt(std::string_view line, const logs::Record& record,
                   std::vector<CapabilityFact>& facts);

  std::string host_, device_, command_;
  bool is_answer_next_ = false;
};

}  // namespace ringside::audit
