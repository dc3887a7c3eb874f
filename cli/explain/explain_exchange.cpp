#include "cli/explain/explain_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"

namespace ringside::cli {

using study::ExchangeExplanation;
using study::ExchangeSize;

std::string exchange_text(const ExchangeExplanation& exchange, const std::string& on) {
  const CommShape& shape = exchange.shape;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{} on {}: {}, {}, NCCL {}\n\n", to_string(exchange.calls.collective), on,
                 plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
                 plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"), exchange.nccl);
  fmt::format_to(
      out,
      "It is made of sends and receives: no algorithm is chosen, and NCCL has no model of "
      "its\ntime (ringside sim has one). Each rank sends to {}.\n\n",
      plural(static_cast<std::size_t>(exchange.peers), "other one", "others"));
  fmt::format_to(out, "channels   {}, at most {} for one peer; chunks of {}\n", exchange.channels,
                 shape.p2p_channels_per_peer,
                 format_bytes(Bytes{static_cast<std::uint64_t>(shape.p2p_chunk)}));
  fmt::format_to(out,
                 "protocol   simple; within a node ll for up to 16 KiB a channel (the simulator "
                 "takes simple)\n");
  fmt::format_to(out, "rounds     rank 0 sends to, and receives from, in this order:\n          ");
  for (const PeersOfRound& round : exchange.first_rounds) {
    fmt::format_to(out, " {}/{}", to_int(round.send), to_int(round.recv));
  }
  if (shape.nranks > static_cast<int>(exchange.first_rounds.size())) text += " ...";
  if (shape.nnodes > 1) {
    fmt::format_to(out, "\n           {} of a node one after the other, then those of another node",
                   plural(static_cast<std::size_t>(exchange.block), "rank", "ranks"));
  }
  if (!exchange.way.empty()) {
    fmt::format_to(
        out, "\nway        rank 0 to rank {}{}:\n", to_int(exchange.far),
        exchange.is_relayed ? ", by the NIC next to the GPU of the peer's number (PXN)" : "");
    for (const std::string& link : exchange.way) fmt::format_to(out, "             {}\n", link);
  } else {
    text += '\n';
  }
  constexpr std::string_view kRow = "{:>12}{:>16}{:>10}{:>14}\n";
  text += '\n';
  fmt::format_to(out, kRow, "size", "between two", "channels", "on each");
  for (const ExchangeSize& size : exchange.sizes) {
    // A transfer that is shorter than a part is one part of its own size.
    fmt::format_to(out, kRow, format_bytes(size.bytes), format_bytes(size.transfer), size.parts,
                   format_bytes(std::min(size.part, size.transfer)));
  }
  return text;
}

Json exchange_document(const ExchangeExplanation& exchange) {
  Json rounds = Json::array();
  for (const PeersOfRound& round : exchange.first_rounds) {
    rounds.push_back({{"send", to_int(round.send)}, {"recv", to_int(round.recv)}});
  }
  Json sizes = Json::array();
  for (const ExchangeSize& size : exchange.sizes) {
    sizes.push_back({{"bytes", size.bytes.value},
                     {"transfer_bytes", size.transfer.value},
                     {"channels", size.parts},
                     {"part_bytes", size.part.value}});
  }
  return {{"schema", "ringside.explain/1"},
          {"collective", to_string(exchange.calls.collective)},
          {"nccl", exchange.nccl},
          {"nranks", exchange.shape.nranks},
          {"nodes", exchange.shape.nnodes},
          {"exchange",
           {{"channels", exchange.channels},
            {"channels_per_peer", exchange.shape.p2p_channels_per_peer},
            {"chunk_bytes", exchange.shape.p2p_chunk},
            {"protocol", "simple"},
            {"peers", exchange.peers},
            {"first_rounds", std::move(rounds)},
            {"way", {{"to", to_int(exchange.far)}, {"links", exchange.way}}},
            {"is_relayed", exchange.is_relayed},
            {"sizes", std::move(sizes)}}}};
}

}  // namespace ringside::cli
