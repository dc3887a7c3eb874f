#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gui/model/document.h"
#include "tests/replay/traces.h"
#include "tests/trace/small_trace.h"

namespace ringside::gui {

/// Makes a document of these events.
inline std::shared_ptr<const Document> document_of(std::span<const TraceEvent> events) {
  Opened one = opened(events);
  auto document = std::make_shared<Document>(make_document("test", *std::move(one.replay)));
  document->keeps = std::shared_ptr<const FileBytes>(std::move(one.bytes));
  return document;
}

inline std::shared_ptr<const Document> late_document() { return document_of(late_all_reduce()); }

/// Returns `steps` steps on each of so many lanes, all equal: each lasts 900 ns, and one begins every microsecond.
inline std::vector<TraceEvent> regular_events(int ranks, int channels, int steps) {
  std::vector<TraceEvent> events;
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (int channel = 0; channel < channels; ++channel) {
        TraceEvent event;
        event.begin_ns = 1000 * step;
        event.end_ns = event.begin_ns + 900;
        event.rank = rank;
        event.channel = static_cast<std::uint16_t>(channel);
        event.step = static_cast<std::uint32_t>(step);
        event.offset = static_cast<std::uint64_t>(step) * 512;
        event.bytes = 512;
        event.primitive = Primitive::RecvReduceSend;
        event.recv_peer = (rank + ranks - 1) % ranks;
        event.send_peer = (rank + 1) % ranks;
        events.push_back(event);
      }
    }
  }
  return events;
}

}  // namespace ringside::gui
