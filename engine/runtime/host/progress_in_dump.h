#pragma once

#include <vector>

#include "engine/flight/dump.h"
#include "engine/runtime/host/connect.h"

namespace ringside {

/// Appends the progress of the connections to a dump's list.
inline void add_to_dump(const std::vector<Connections::Progress>& connections,
                        std::vector<FlightDump::Progress>& progress) {
  for (const Connections::Progress& one : connections) {
    progress.push_back({.channel = static_cast<int>(one.id.channel),
                        .protocol = one.id.protocol,
                        .slot_size = one.id.slot_size,
                        .index = static_cast<int>(one.id.index),
                        .peer = static_cast<int>(one.receives ? one.id.from : one.id.to),
                        .is_send = !one.receives,
                        .messages = one.messages,
                        .bytes = one.bytes,
                        .is_waiting = one.is_waiting});
  }
}

}  // namespace ringside
