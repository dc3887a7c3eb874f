#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "engine/runtime/watch/status_report.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {

class Bootstrap;
class FlightRecorder;

/// Exchanges what the ranks of a job know for the status service: their counts, their flight recorder's dump, and their
/// NCCL_* variables. Only a process that proves the job's secret gets an answer.
///
/// Threads    any thread may ask; the object's own thread answers
/// Ownership  the recorder outlives it
class StatusPeers {
 public:
  /// Every rank calls it at the same time.
  /// patience  how long this rank tries to send an answer to a peer
  /// errors  as Bootstrap::all_gather(); System: no sockets
  static Result<std::unique_ptr<StatusPeers>> start(Bootstrap& bootstrap,
                                                    const FlightRecorder& recorder,
                                                    Nanoseconds patience, Deadline deadline);
  ~StatusPeers();
  StatusPeers(const StatusPeers&) = delete;
  StatusPeers& operator=(const StatusPeers&) = delete;

  [[nodiscard]] std::size_t nranks() const { return places_.size(); }
  /// Returns the lowest rank on this process's host.
  [[nodiscard]] std::size_t first_of_host() const;
  [[nodiscard]] std::size_t rank() const { return me_; }
  [[nodiscard]] std::string host_of(std::size_t rank) const;
  [[nodiscard]] std::int64_t pid_of(std::size_t rank) const;

  /// Returns the counts of every rank. A rank that does not answer within `patience` has is_answering false.
  [[nodiscard]] std::vector<RankStatus> statuses(const Patience& patience) const;

  /// Returns the dump of the rank's flight recorder, in PyTorch's JSON.
  /// errors  PeerGone: the process has ended.  Timeout; Corrupt: longer than 64 MiB
  [[nodiscard]] Result<std::string> dump(std::size_t rank, const Patience& patience) const;

  /// Returns the NCCL_* variables of every rank.  returns  [rank]; nothing for a rank that does not answer
  [[nodiscard]] std::vector<std::optional<std::map<std::string, std::string>>> variables(
      const Patience& patience) const;

 private:
  /// Where a rank answers. Plain bytes.
  struct Place {
    std::array<char, 64> address{};
    std::array<char, 192> host{};
    std::int64_t pid = 0;
  };

  StatusPeers(const Bootstrap& bootstrap, const FlightRecorder& recorder, std::vector<Place> places,
              std::unique_ptr<Acceptor> acceptor, Wakeup stop, Nanoseconds patience);
  void answer_peers();
  [[nodiscard]] std::string answer_to(const std::string& question) const;
  [[nodiscard]] RankStatus own_status() const;
  [[nodiscard]] Result<std::string> ask(std::size_t rank, const std::string& question,
                                        std::size_t most, const Patience& patience) const;
  template <typename Ask>
  void ask_each(const Ask& ask_one) const;

  const Nanoseconds patience_;
  const FlightRecorder& recorder_;
  const Secret secret_;
  const std::size_t me_;
  const std::vector<Place> places_;  ///< [rank]
  const std::unique_ptr<Acceptor> acceptor_;
  const Wakeup stop_;
  std::jthread answers_;  // last member: it uses the others
};

}  // namespace ringside
