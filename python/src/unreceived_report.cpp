#include "python/src/unreceived_report.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace ringside::pytorch {
namespace {

/// Messages that are remembered: more than the engine buffers between two ranks.
constexpr std::size_t kMost = 64;
constexpr std::size_t kMostPrinted = 8;

/// Returns the innermost line of the program that is not of an installed package; empty: unknown.
std::string place_of(const CallSite* site) {
  if (site == nullptr) return {};
  for (const CallFrame& frame : site->frames) {
    const bool is_of_package = frame.file.find("-packages/") != std::string::npos;
    if (!is_of_package) return frame.file + ":" + std::to_string(frame.line);
  }
  return {};
}

/// Prints a line with one write, as lines of other ranks may come at the same time.
void print(const std::string& line) { std::fputs(("ringside: " + line + "\n").c_str(), stderr); }

}  // namespace

void UnreceivedReport::add(Sent sent, MessageRecord record) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++count_;
  last_.push_back({sent, std::move(record)});
  if (last_.size() > kMost) last_.pop_front();
}

std::string UnreceivedReport::described(std::uint64_t number, const Sent& sent) const {
  std::string text = "message " + std::to_string(number) + " of " + lane_.names->of(lane_.from) +
                     " (" + std::to_string(sent.bytes) + " bytes";
  if (lane_.tag != 0) text += ", tag " + std::to_string(lane_.tag);
  const std::string place = place_of(sent.site);
  if (!place.empty()) text += ", sent at " + place;
  return text + ", group " + lane_.group + ")";
}

void UnreceivedReport::report(const UnreceivedMessages& left) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::uint64_t lost = lane_.is_sender ? left.sent : left.missed;
  if (lost == 0 || last_.empty()) return;
  // With ranks of the group, as all reasons in dumps.
  const std::string reason = "rank " + std::to_string(lane_.to) +
                             std::string(kLeftWithoutReceiving) +
                             (lost == 1 ? "a message" : std::to_string(lost) + " messages") +
                             " of rank " + std::to_string(lane_.from);
  if (!lane_.is_sender) {
    last_.back().record.report_unreceived(reason);
    return;
  }
  const std::size_t known = std::min<std::uint64_t>(lost, last_.size());
  for (std::size_t i = 0; i < known && i < kMostPrinted; ++i) {
    print(lane_.names->of(lane_.to) + " never received " +
          described(count_ - known + i + 1, last_[last_.size() - known + i].sent) +
          ", which was buffered. Over gloo or NCCL such a send can hang: add the recv, or omit the "
          "send.");
  }
  if (lost > kMostPrinted)
    print("and " + std::to_string(lost - kMostPrinted) + " more messages between these ranks");
  // The first one last: it takes the dump, which shows all of them.
  for (std::size_t i = known; i-- > 0;)
    last_[last_.size() - known + i].record.report_unreceived(reason);
}

void UnreceivedReport::report_aborted(Sent sent) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++count_;
  print(
      lane_.names->of(lane_.to) + " had not received " + described(count_, sent) + " when " +
      lane_.names->of(lane_.from) +
      " left the process group. Wait for the send before: wait() of the work that isend returns.");
}

}  // namespace ringside::pytorch
