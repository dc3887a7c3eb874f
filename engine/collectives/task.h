#pragma once

#include <vector>

#include "engine/collectives/chunk_map.h"
#include "engine/collectives/peers.h"
#include "engine/collectives/role.h"

namespace ringside {

/// One rank's share of one collective on one channel. Together with a Primitives model it is all that an executor
/// needs: see README.md, "Writing an executor".
struct ChannelTask : Role {
  ChunkMap map;

  std::vector<Round> rounds = {};  ///< for an exchange

  /// The peer of each port, by port number. Some ports are unused (Peer::is_used).
  std::vector<Peer> recv_peers = {};
  std::vector<Peer> send_peers = {};

  [[nodiscard]] const Role& role() const { return *this; }
  [[nodiscard]] RoundList round_list() const {
    return {rounds.data(), static_cast<int>(rounds.size())};
  }
  [[nodiscard]] std::int64_t loops() const { return map.loops(); }
  [[nodiscard]] int turn_of(std::int64_t loop) const { return map.turn_of(loop); }
};

}  // namespace ringside
