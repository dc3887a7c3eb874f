#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::job {

/// The meaning of a fault line of the GPU's driver for a job that uses the GPU.
enum class XidWeight : std::uint8_t {
  Event,    ///< the job goes on; or a consequence of another fault
  Warning,  ///< the job may go on
  Fault     ///< work on the GPU ends
};

struct XidMeaning {
  int first = 0, last = 0;  ///< codes
  XidWeight weight = XidWeight::Event;
  std::string_view text;
  std::string_view action;
};

/// returns  nullptr: not in the table
/// source   docs/formats 8.1
const XidMeaning* meaning_of_xid(int code);

}  // namespace ringside::job
