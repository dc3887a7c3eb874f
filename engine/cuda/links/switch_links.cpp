#include "engine/cuda/links/switch_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "engine/cuda/device/device_multicast.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/transport/socket/file_passing.h"

namespace ringside {
namespace {

/// The counters of steps that both sides of a connection write into its shared pages.
struct StepCounters {
  std::uint32_t member = 0;  ///< steps that the member has reached
  std::uint32_t head = 0;    ///< steps that the head has released
};

StepCounters& counters_in(const TransportEnd& end) {
  const std::span<std::byte> pages = end.shared_pages();
  RINGSIDE_ASSERT(pages.size() >= kBytesOfLinks + sizeof(StepCounters), "{} bytes for counters",
                  pages.size());
  return *reinterpret_cast<StepCounters*>(pages.data() + kBytesOfLinks);
}

}  // namespace

/// The ranks of this rank's node. Each step is a barrier among them.
class SwitchLinks::Node {
 public:
  Node(Bootstrap& bootstrap, const SwitchName& first, const FindEnd& end_of,
       std::map<ConnectionId, std::uint32_t>& steps)
      : bootstrap_(bootstrap), name_(first), leads_(first.head == bootstrap.rank()) {
    for (const Rank member : first.members) {
      const bool is_mine = leads_ ? member != first.head : member == bootstrap.rank();
      if (!is_mine) continue;
      const ConnectionId id = switch_connection(first, member);
      const TransportEnd& end = end_of(id);
      pairs_.push_back({member, &counters_in(end), end.file_socket(), &steps[id]});
    }
  }

  [[nodiscard]] bool leads() const { return leads_; }
  [[nodiscard]] int count() const { return static_cast<int>(name_.members.size()); }
  [[nodiscard]] int index() const {
    return static_cast<int>(std::ranges::find(name_.members, bootstrap_.rank()) -
                            name_.members.begin());
  }

  /// Sends the head's file to all other members.
  Result<UniqueFd> share(UniqueFd file, Deadline deadline) {
    const Patience patience = bootstrap_.patience(deadline);
    for (const Pair& pair : pairs_) {
      if (leads_) {
        RINGSIDE_TRY(send_fd(pair.socket, file.get(), patience));
      } else {
        RINGSIDE_TRY(file, recv_fd(pair.socket, patience));
      }
    }
    return file;
  }

  /// Returns when all members have reached this step.
  Status wait_for_all(Deadline deadline) {
    for (const Pair& pair : pairs_) ++*pair.step;
    if (!leads_) signal(pairs_.front().counters->member, *pairs_.front().step);
    for (const Pair& pair : pairs_) {
      std::uint32_t& other = leads_ ? pair.counters->member : pair.counters->head;
      RINGSIDE_TRY(wait_for(other, *pair.step, leads_ ? pair.member : name_.head, deadline));
    }
    for (const Pair& pair : pairs_) {
      if (leads_) signal(pair.counters->head, *pair.step);
    }
    return {};
  }

 private:
  struct Pair {
    Rank member;
    StepCounters* counters;
    int socket;
    std::uint32_t* step;
  };

  static void signal(std::uint32_t& word, std::uint32_t step) {
    std::atomic_ref(word).store(step, std::memory_order_release);
  }
  Status wait_for(std::uint32_t& word, std::uint32_t step, Rank other, Deadline deadline) {
    constexpr auto kBetweenLooks = std::chrono::microseconds(100);
    while (std::atomic_ref(word).load(std::memory_order_acquire) < step) {
      if (has_passed(deadline)) {
        return Error{
            ErrorCode::Timeout,
            fmt::format("rank {}: rank {} did not join the memory behind their NVSwitch in "
                        "time",
                        to_int(bootstrap_.rank()), to_int(other)),
            "look at that rank's own messages; NCCL_NVLS_ENABLE=0 does without the switch"};
      }
      RINGSIDE_TRY(bootstrap_.patience(deadline).at_most(kBetweenLooks).wait_for(-1, 0));
    }
    return {};
  }

  Bootstrap& bootstrap_;
  const SwitchName& name_;
  const bool leads_;
  /// For the head: its connections with all others; for another member: the one with the head
  std::vector<Pair> pairs_;
};

Status SwitchLinks::connect(std::span<const SwitchName> wanted, const FindEnd& end_of,
                            Deadline deadline) {
  std::vector<SwitchName> fresh;
  std::size_t bytes = 0;
  for (const SwitchName& name : wanted) {
    RINGSIDE_ASSERT(name.members == wanted.front().members, "groups of two nodes on one rank");
    if (slots_.contains(name)) continue;
    fresh.push_back(name);
    bytes += switch_memory(name, kSlots);
  }
  if (fresh.empty()) return {};
  Node node(bootstrap_, fresh.front(), end_of, steps_);
  RINGSIDE_TRY(SwitchSlots next, make_slots(node, Bytes{bytes}, deadline));
  for (const SwitchName& name : fresh) {
    slots_[name] = next;
    next.own += switch_memory(name, kSlots);
    next.all += switch_memory(name, kSlots);
  }
  return {};
}

Result<SwitchSlots> SwitchLinks::make_slots(Node& node, Bytes size, Deadline deadline) {
  DeviceMulticast* const multicast = memory_.multicast();
  RINGSIDE_ASSERT(multicast != nullptr, "a switch without multicast");
  const DeviceMulticast::Shape shape{node.count(), size};
  UniqueFd file;
  if (node.leads()) {
    RINGSIDE_TRY(file, multicast->make(shape));
  }
  RINGSIDE_TRY(file, node.share(std::move(file), deadline));
  RINGSIDE_TRY(multicast->join(file, shape, node.index()));
  // No member binds before all have joined, and no member's kernel stores before all have bound.
  RINGSIDE_TRY(node.wait_for_all(deadline));
  RINGSIDE_TRY(const SwitchSlots slots, multicast->bind());
  RINGSIDE_TRY(node.wait_for_all(deadline));
  return slots;
}

}  // namespace ringside
