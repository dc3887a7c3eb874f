#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/channels/job.h"
#include "engine/debuglog/channel_text.h"
#include "engine/debuglog/communicator_text.h"
#include "engine/tuning/select.h"

namespace ringside {

/// The engine's decisions for a communicator, in the order in which a log prints them.
/// Communicators over equal hosts share one layout.
class CommunicatorLayout {
 public:
  CommunicatorLayout(Job job, std::shared_ptr<const Tuner> tuner);

  /// The location of a rank.
  struct Place {
    int node = 0;
    int gpu = 0;  ///< index in its node's system
  };

  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const Tuner& tuner() const { return *tuner_; }
  [[nodiscard]] int nranks() const { return job_.nranks(); }
  [[nodiscard]] int nchannels() const { return job_.connection.channels.count(); }
  [[nodiscard]] Place place(int rank) const { return places_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const JobNode& node(int rank) const {
    return job_.nodes[static_cast<std::size_t>(place(rank).node)];
  }
  [[nodiscard]] const System& system(int rank) const {
    return job_.systems[static_cast<std::size_t>(node(rank).report)];
  }
  [[nodiscard]] const NodeReport& report(int rank) const {
    return job_.reports[static_cast<std::size_t>(node(rank).report)];
  }
  [[nodiscard]] const GpuInfo& gpu(int rank) const {
    return system(rank).gpus[static_cast<std::size_t>(place(rank).gpu)];
  }

  /// Returns the rank `steps` positions after (negative: before) another rank in a ring.
  [[nodiscard]] int in_ring(int channel, int rank, int steps) const;
  [[nodiscard]] TreeEdges tree(int channel, int rank) const;
  /// Returns the NVLS tree of the channels of that parity.
  [[nodiscard]] TreeEdges nvls_tree(int parity, int rank) const;
  [[nodiscard]] NodePlace node_place(int rank) const;

 private:
  Job job_;
  std::shared_ptr<const Tuner> tuner_;
  std::vector<Place> places_;
  std::vector<std::vector<int>> ring_positions_;  ///< [channel][rank]
};

/// One communicator of a job's log.
struct LogCommunicator {
  std::shared_ptr<const CommunicatorLayout> layout = nullptr;
  std::vector<int> members = {};  ///< [rank] = process
  std::uint64_t id = 0;
};

}  // namespace ringside
