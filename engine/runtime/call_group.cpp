#include "engine/runtime/call_group.h"

#include <algorithm>
#include <bit>
#include <list>
#include <map>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/vocabulary.h"
#include "engine/runtime/communicator.h"

namespace ringside {
namespace {

/// The buffers of one call may lie anywhere. They are stored as distances from this address, which is never valid
/// memory.
constexpr std::uintptr_t kNowhere = 64;

bool is_message(const CollectiveCall& call) {
  return call.collective == Collective::Send || call.collective == Collective::Recv;
}

/// Returns the transfer in bytes, unless all messages have the same type and lie at multiples of its size.
Transfer transfer_of(const CollectiveCall& message, bool is_in_bytes) {
  const bool is_send = message.collective == Collective::Send;
  const Transfer& one = is_send ? message.sends.front() : message.recvs.front();
  const auto element = static_cast<std::int64_t>(size_of(message.type).value);
  const void* const buffer = is_send ? message.input : message.output;
  const auto place = static_cast<std::int64_t>(std::bit_cast<std::uintptr_t>(buffer) - kNowhere) +
                     one.offset * element;
  const std::int64_t unit = is_in_bytes ? 1 : element;
  return {one.peer, place / unit, one.count * element / unit};
}

bool are_aligned_alike(const std::vector<CollectiveCall>& messages) {
  return std::ranges::all_of(messages, [&](const CollectiveCall& one) {
    const void* const buffer = one.collective == Collective::Send ? one.input : one.output;
    const std::uintptr_t place = std::bit_cast<std::uintptr_t>(buffer) - kNowhere;
    return one.type == messages.front().type && place % size_of(one.type).value == 0;
  });
}

}  // namespace

std::vector<CollectiveCall> fuse_messages(const std::vector<CollectiveCall>& messages) {
  if (messages.size() == 1) return messages;
  std::vector<CollectiveCall> calls;
  const bool is_in_bytes = !are_aligned_alike(messages);
  std::map<std::pair<Collective, Rank>, std::size_t> round_of;
  for (const CollectiveCall& message : messages) {
    const Transfer transfer = transfer_of(message, is_in_bytes);
    const std::size_t round = round_of[{message.collective, transfer.peer}]++;
    if (round == calls.size()) {
      CollectiveCall& fresh = calls.emplace_back();
      fresh.collective = Collective::SendRecv;
      fresh.type = is_in_bytes ? DataType::Uint8 : message.type;
      fresh.input = std::bit_cast<const void*>(kNowhere);
      fresh.output = std::bit_cast<void*>(kNowhere);
    }
    auto& list = message.collective == Collective::Send ? calls[round].sends : calls[round].recvs;
    list.push_back(transfer);
  }
  return calls;
}

void CallGroup::add(runtime::Communicator& communicator, const CallStream& stream,
                    CollectiveCall call) {
  auto part = std::ranges::find_if(parts_, [&](const Part& one) {
    return one.communicator == &communicator && one.stream == stream;
  });
  if (part == parts_.end()) part = parts_.insert(part, {&communicator, stream, {}, {}});
  (is_message(call) ? part->messages : part->collectives).push_back(std::move(call));
}

void CallGroup::drop(const runtime::Communicator& communicator) {
  std::erase_if(parts_, [&](const Part& one) { return one.communicator == &communicator; });
}

std::vector<CollectiveCall> CallGroup::Part::calls() const {
  std::vector<CollectiveCall> all;
  if (!messages.empty()) all = fuse_messages(messages);
  all.insert(all.end(), collectives.begin(), collectives.end());
  return all;
}

Status CallGroup::prepare(const std::vector<Part>& parts) {
  std::list<Status> done;
  std::list<std::jthread> threads;
  for (const Part& part : parts) {
    if (!std::holds_alternative<DeviceStream>(part.stream)) continue;
    std::vector<CollectiveCall> calls = part.calls();
    if (part.communicator->is_prepared(calls)) continue;
    Status& status = done.emplace_back();
    threads.emplace_back(
        [&part, &status, calls = std::move(calls)] { status = part.communicator->prepare(calls); });
  }
  threads.clear();  // joins every thread
  const auto failed = std::ranges::find_if(done, [](const Status& one) { return !one; });
  return failed == done.end() ? Status{} : *failed;
}

Status CallGroup::launch() {
  const std::vector<Part> parts = std::exchange(parts_, {});
  if (parts.size() > 1) RINGSIDE_TRY(prepare(parts));
  for (const Part& part : parts) {
    RINGSIDE_TRY(std::visit(
        [&part](const auto& stream) {
          if constexpr (std::is_same_v<decltype(stream), const DeviceStream&>) {
            return part.communicator->enqueue(part.calls(), stream);
          } else {
            return part.communicator->enqueue(part.calls(), *stream);
          }
        },
        part.stream));
  }
  return {};
}

}  // namespace ringside
