#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "study/simulation.h"
#include "trace/replay/replay.h"

namespace ringside::gui {

/// A device on the path of messages.
struct MachinePlace {
  enum class Kind : std::uint8_t { Gpu, NvSwitch, Pci, Cpu, Nic, Fabric };
  Kind kind = Kind::Fabric;
  std::int32_t node = -1;  ///< -1: part of the fabric between nodes
  std::int32_t rank = -1;  ///< only of a GPU
  int tier = 0;            ///< only of the fabric: 1 next to the NICs, 2 above it
  std::string name;        ///< "GPU 3", "mlx5_0", "leaf 3"
};

/// The devices on the paths of a job's messages: GPUs, switches, PCIe, NICs, the fabric's switches.
class Machine {
 public:
  using Hop = std::pair<std::uint32_t, std::uint32_t>;  ///< from one place to an adjacent one

  /// Collects the paths of the messages in the trace, by channel. To save time, only the first 4,096 events of each lane
  /// are searched, as peers repeat, and about 50,000 different messages are kept.
  static Machine make(const Job& job, const SimNetwork& network, const Replay& replay);

  [[nodiscard]] const std::vector<MachinePlace>& places() const { return places_; }
  /// Returns the places on the path from GPU to GPU; empty: unknown.
  [[nodiscard]] std::span<const std::uint32_t> way(std::int32_t from, std::int32_t to,
                                                   std::int32_t channel) const;
  /// Returns the rate in one direction between two adjacent places, bytes/s; 0: unknown.
  [[nodiscard]] double rate(Hop hop) const;
  [[nodiscard]] const std::map<Hop, double>& hops() const { return rates_; }
  /// Returns a title such as "node 3" or "rack 0: one NVLink domain of 18 hosts".
  [[nodiscard]] const std::string& node_title(std::int32_t node) const {
    return node_titles_[static_cast<std::size_t>(node)];
  }
  /// Returns a title such as "node 0: GPU 3" or "leaf 2".
  [[nodiscard]] std::string title_of(std::uint32_t place) const;

 private:
  class Maker;
  using Message = std::tuple<std::int32_t, std::int32_t, std::int32_t>;

  std::vector<MachinePlace> places_;
  std::vector<std::string> node_titles_;
  std::map<Message, std::vector<std::uint32_t>> ways_;
  std::map<Hop, double> rates_;
};

}  // namespace ringside::gui
