#pragma once

#include <ringside/communicator.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "python/src/rank_names.h"

namespace ringside::pytorch {

/// Reports messages that were sent and never received. A send of few bytes returns once they are buffered, so a script
/// that omits the recv can end without an error here, and hang over another backend.
///
/// Threads  any
class UnreceivedReport {
 public:
  /// The messages of one tag from one rank of a group to another.
  struct Lane {
    std::shared_ptr<const RankNames> names;
    std::string group;
    int from = 0, to = 0;
    int tag = 0;
    bool is_sender = false;  ///< this process is the sender
  };
  /// One message.
  struct Sent {
    std::size_t bytes = 0;
    const CallSite* site = nullptr;
  };

  explicit UnreceivedReport(Lane lane) : lane_(std::move(lane)) {}

  /// Remembers a message that was carried out.
  void add(Sent sent, MessageRecord record);
  /// Prints the messages that both ranks have left behind, on the sender, and has both write their dumps.
  void report(const UnreceivedMessages& left);
  /// Prints a message that the receiver had not received when the sender left.
  void report_aborted(Sent sent);

 private:
  struct Done {
    Sent sent;
    MessageRecord record;
  };
  [[nodiscard]] std::string described(std::uint64_t number, const Sent& sent) const;

  const Lane lane_;
  std::mutex mutex_;  ///< guards what follows
  std::deque<Done> last_;
  std::uint64_t count_ = 0;
};

}  // namespace ringside::pytorch
