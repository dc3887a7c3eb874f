#pragma once

#include <memory>

#include "base/clock.h"
#include "engine/faults/fault.h"
#include "engine/transport/end.h"

namespace ringside {

/// Wraps a sending end of any transport in a link fault: messages arrive late or never, or the connection breaks. Lost
/// messages appear as sent to the caller. During a stall or slow-down acquire() returns no slot.
///
/// Threads, Ordering  as SendEnd
/// fault   a link fault (is_link_fault)
/// clock   outlives the end
std::unique_ptr<SendEnd> make_faulty_send_end(std::unique_ptr<SendEnd> inner, const Fault& fault,
                                              Clock& clock);

}  // namespace ringside
