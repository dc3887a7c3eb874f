#include "gui/model/views/legend.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside::gui {
namespace {

std::vector<LegendEntry> steps_legend() {
  return {
      {Ink::Send, "send", "sends its own input"},
      {Ink::Receive, "recv", "receives a chunk and keeps it"},
      {Ink::PassOn, "RCS pass on", "RCS: receives a chunk, copies it, and sends it on"},
      {Ink::Reduce, "RRS RRCS reduce",
       "RRS: receives a chunk, reduces it with its own input, and sends the sum; RRCS: also copies "
       "the sum to the output; RRC: does not send it"},
      {Ink::Copy, "copy", "copies within the rank"}};
}

/// The calls of each group of ranks, or of each kind of group, by name.
void add_calls(const Document& document, std::vector<LegendEntry>& entries) {
  constexpr std::uint32_t kMostGroups = 8;
  const std::vector<std::string>& names = document.group_colours.names;
  if (names.size() < 2) {
    entries.push_back({Ink::Call, "call", "a whole collective on one rank"});
    return;
  }
  const auto shown = std::min(kMostGroups, static_cast<std::uint32_t>(names.size()));
  for (std::uint32_t i = 0; i < shown; ++i)
    entries.push_back({ink_of_group(i), names[i], "calls of " + names[i]});
  if (names.size() > shown) {
    entries.push_back({Ink::Panel, fmt::format("and {} more", names.size() - shown),
                       "further groups, whose colours repeat"});
  }
}

std::vector<LegendEntry> timeline_legend(const Document& document) {
  std::vector<LegendEntry> entries;
  if (document.replay->statistics().primitives > 0) entries = steps_legend();
  add_calls(document, entries);
  if (std::ranges::any_of(document.replay->lanes(),
                          [](const LaneKey& lane) { return lane.channel == kComputeChannel; })) {
    entries.push_back({Ink::Compute, "compute", "other kernels of the rank's GPU"});
  }
  entries.push_back({Ink::Faint, "low: idle in between",
                     "several events in a few pixels: the height is the share of the time that is "
                     "busy; dimmed: steps of several kinds",
                     Fill::Soft});
  entries.push_back({Ink::Waiting, "waiting",
                     "a step waits for its sender; a call waits for ranks that have not entered",
                     Fill::Hatched});
  return entries;
}

std::vector<LegendEntry> topology_legend(const Document& document) {
  std::vector<LegendEntry> entries;
  if (document.surround.ways == nullptr) {
    entries.push_back({Ink::Path, "path", "from rank to rank; the trace does not state over what"});
    if (std::ranges::any_of(document.calls, [](const CallFacts& call) {
          return call.algorithm == Algorithm::Nvls || call.algorithm == Algorithm::NvlsTree;
        })) {
      entries.push_back({Ink::Nvlink, "NVLink", "to and from the switch"});
    }
  } else {
    entries = {{Ink::Nvlink, "NVLink", "links between GPUs and NVSwitches"},
               {Ink::Pcie, "PCIe", "from a GPU or a CPU to a NIC"},
               {Ink::Network, "network", "NICs, switches and cables between hosts"}};
  }
  if (document.surround.ways == nullptr) {
    entries.push_back({Ink::Reduce, "busiest",
                       "more than 85 % of the bytes of the busiest path; capacities are unknown"});
  } else {
    entries.push_back({Ink::Reduce, "full", "more than 85 % of the link's rate"});
  }
  entries.push_back({Ink::Now, "chunk", "a chunk in flight at the current time"});
  return entries;
}

}  // namespace

std::vector<LegendEntry> legend_of(const Document& document, View view) {
  switch (view) {
    case View::Timeline:
      return timeline_legend(document);
    case View::Topology:
      return topology_legend(document);
    case View::Chunks:
      return {{Ink::Send, "own input", "the rank has its own input alone"},
              {Ink::Reduce, "sum of some", "the rank keeps a sum of some inputs"},
              {Ink::Reduce, "passed on (dimmed)", "the rank sent a sum and did not keep it",
               Fill::Soft},
              {Ink::Good, "result", "complete: the inputs of all ranks"}};
    case View::Slots:
      return {{Ink::Send, "is filled", "the sender writes into the slot", Fill::Hatched},
              {Ink::Send, "full", "the sender has posted the slot", Fill::Soft},
              {Ink::Receive, "is taken", "the receiver reads the slot", Fill::Hatched}};
    case View::Numbers:
    case View::Findings:
    case View::Compare:
      break;
  }
  return {};
}

}  // namespace ringside::gui
