#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/record.h"

namespace ringside::audit {

/// A fact about a host or a container, from a tool's output in the text.
struct CapabilityFact {
  enum class What : std::uint8_t {
    Command,      ///< a command whose output is in the text: `show_gids`
    Gid,          ///< an entry of a port's GID table; `index`, `value` is its version and address
    Memlock,      ///< the limit of locked memory: `unlimited`, or KiB
    Port,         ///< an RDMA port: `active` or `down`
    Package,      ///< an installed package of NCCL: `nvidia-nccl-cu12 2.21.5`
    LargePacket,  ///< a ping with a large packet that may not be cut: `lost`; `index` is its bytes
    NoPing,       ///< a ping of any other size without an answer
    Device,       ///< /dev/infiniband in a container: `none`
  };
  What what = What::Command;
  std::string host;  ///< of the prompt above it; empty: unknown
  std::string device = {};
  std::string value = {};
  std::int32_t index = -1;
  QuotedLine quoted = {};
};

/// Reads such lines. A prompt names the host of the lines below it, a heading the device.
class CapabilityLines {
 public:
  void take(const logs::Record& record, std::vector<CapabilityFact>& facts);

  /// The previous line was a command: this one may be its output, whatever it contains.
  [[nodiscard]] bool awaits_answer() const { return is_answer_next_; }

 private:
  void take_prompt(std::string_view line, const logs::Record& record,
                   std::vector<CapabilityFact>& facts);

  std::string host_, device_, command_;
  bool is_answer_next_ = false;
};

}  // namespace ringside::audit
