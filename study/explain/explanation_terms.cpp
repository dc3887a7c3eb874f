#include <fmt/format.h>

#include <cmath>

#include "study/explain/explanation.h"

namespace ringside::study {
namespace {

/// At most two decimals, none that are 0.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string link_name(const LatencyTerms& terms) {
  switch (terms.local_link) {
    case StepLink::NvLink:
      return "NVLink";
    case StepLink::Pci:
      return "PCI";
    case StepLink::Net:
      break;
  }
  return "network overhead";
}

std::string steps(double count, float us, const std::string& link) {
  return fmt::format("{} x {} us {}", number(count), number(us), link);
}

std::string latency_text(const Cost& cost, const Prediction& prediction) {
  const LatencyTerms& t = cost.latency;
  std::vector<std::string> parts;
  if (t.base_us > 0) parts.push_back(fmt::format("{} us base", number(t.base_us)));
  if (t.local_steps > 0) parts.push_back(steps(t.local_steps, t.local_us, link_name(t)));
  if (t.net_steps > 0) parts.push_back(steps(t.net_steps, t.net_us, "network"));
  if (t.other_us > 0) parts.push_back(fmt::format("{} us of many peers", number(t.other_us)));
  std::string text = fmt::format("{}", fmt::join(parts, " + "));
  const double plateau = prediction.latency_us / cost.latency_us;
  if (plateau > 1.001) text = fmt::format("{} x ({}) for a long ring", number(plateau), text);
  return fmt::format("{} us = {}", number(prediction.latency_us), text);
}

/// Returns the source of the channels' bandwidth, before any reduction.
std::string source_text(const CommShape& shape, const GraphSummary& graph,
                        const BandwidthTerms& terms) {
  const bool is_nics =
      terms.bound == Bound::Nics || (shape.nnodes > 1 && terms.channel_gbs == graph.bw_inter);
  if (is_nics) return fmt::format("of the NICs ({})", to_string(graph.type_inter));
  return graph.type_intra == PathType::Nvl
             ? std::string("of NVLink")
             : fmt::format("inside the node ({})", to_string(graph.type_intra));
}

std::string bound_text(const Tuner& tuner, Bound bound) {
  const bool one = tuner.shape().nnodes == 1;
  switch (bound) {
    case Bound::LocalLinks:
    case Bound::Nics:
      return "";
    case Bound::LlBus:
      return one ? "what LL reaches inside a node" : "what LL reaches past the CPUs";
    case Bound::LlLines:
      return "with LL's flags";
    case Bound::Ll128Channel:
      return "what LL128 moves in a channel";
    case Bound::TreeChannel:
      return "what a tree reduces in a channel";
    case Bound::NvlsTreeChannel:
      return "that an NVLS tree moves";
    case Bound::NvSwitch:
      return "that the NVSwitch reduces and copies";
  }
  return "";
}

std::string bandwidth_text(const Tuner& tuner, const GraphSummary& graph, const Cost& cost,
                           const Prediction& prediction) {
  const BandwidthTerms& t = cost.bandwidth;
  std::string text =
      fmt::format("{} GB/s from {} channels x {} GB/s", number(prediction.bandwidth_gbs),
                  t.nchannels, number(t.channel_gbs));
  const bool is_limit = t.bound == Bound::NvSwitch || t.bound == Bound::NvlsTreeChannel;
  text += " " + (is_limit ? bound_text(tuner, t.bound) : source_text(tuner.shape(), graph, t));
  const float whole = static_cast<float>(t.nchannels) * t.channel_gbs;
  if (!is_limit && t.bus_gbs < 0.999F * whole) {
    const std::string why = bound_text(tuner, t.bound);
    text += fmt::format(", limited to {}{}{}", number(t.bus_gbs), why.empty() ? "" : ": ", why);
  }
  const double correction = prediction.bandwidth_gbs / cost.bandwidth_gbs;
  if (correction < 0.999) {
    text += fmt::format(", {:.0f} % of it at this size", 100 * correction);
  }
  return text;
}

}  // namespace

Terms terms_of(const Tuner& tuner, Collective collective, const Candidate& candidate) {
  const Cost& cost = tuner.table().cost(collective, candidate.algorithm, candidate.protocol);
  const GraphSummary& graph = tuner.shape().graph(facts_of(candidate.algorithm).graph);
  if (!cost.is_available()) {  // chosen nevertheless
    return {tuner.shape().nranks == 1 ? "0 us: one rank only copies"
                                      : "unknown: what NCCL falls back to where nothing is left",
            "-"};
  }
  return {latency_text(cost, candidate.prediction),
          bandwidth_text(tuner, graph, cost, candidate.prediction)};
}

}  // namespace ringside::study
