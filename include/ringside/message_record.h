#pragma once

#include <ringside/export.h>

#include <memory>
#include <string>

namespace RINGSIDE_API ringside {

/// The entry of a send or recv in a communicator's flight record; another communicator carries the message out.
/// Threads  any
class MessageRecord {
 public:
  MessageRecord(MessageRecord&&) noexcept;
  MessageRecord& operator=(MessageRecord&&) noexcept;
  ~MessageRecord();
  void end(bool is_done);  ///< call it once; false: the message failed
  /// Writes the dump with this reason, where dumps are enabled: the receiver has left without receiving a message that
  /// was buffered. On the sender, call it for that message, which the dump then shows as pending; on the receiver, for
  /// any message of that sender.
  void report_unreceived(const std::string& why);

 private:
  friend class Communicator;
  struct Impl;
  explicit MessageRecord(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
