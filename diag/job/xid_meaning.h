#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::job {

/// The effect of an Xid, a fault that the GPU driver logs, on a job that uses the GPU.
enum class XidWeight : std::uint8_t {
  Event,    ///< the job continues, or the Xid follows another fault
  Warning,  ///< the job may continue
  Fault     ///< all work on the GPU ends
};

/// The meaning of a range of Xid codes.
struct XidMeaning {
  int first = 0, last = 0;  ///< first and last code
  XidWeight weight = XidWeight::Event;
  std::string_view text;
  std::string_view action;
};

/// Returns the meaning of an Xid code, or nullptr if the table lacks it.
/// source  docs/formats 8.1
const XidMeaning* meaning_of_xid(int code);

}  // namespace ringside::job
