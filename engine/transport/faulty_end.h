#pragma once

#include <memory>

#include "base/clock.h"
#include "engine/faults/fault.h"
#include "engine/transport/end.h"

namespace ringside {

/// The sending end of any medium with a fault on it: messages come late, never, or the connection breaks.
/// What is lost the caller believes sent; while it stalls or is slow there is no free slot.
///
/// Threads, Ordering  as SendEnd
/// fault   one of connections (is_link_fault)
/// clock   outlives the end
std::unique_ptr<SendEnd> make_faulty_send_end(std::unique_ptr<SendEnd> inner, const Fault& fault,
                                              Clock& clock);

}  // namespace ringside
