#include "engine/transport/shm/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/transport/shm/sealed_file.h"
#include "engine/transport/socket/file_passing.h"

namespace ringside {
namespace {

/// More than the buffers of a training step: a program that alternates among more pays a mapping for each.
constexpr std::size_t kMostMemories = 16;

/// A message in an empty socket queue arrives at once.
constexpr std::chrono::seconds kFileWait{10};

static_assert(std::is_trivially_copyable_v<Reference>);

Error no_reference(const std::string& why) {
  return {ErrorCode::Corrupt, "the peer sent an invalid reference to memory: " + why,
          "use the same version on every rank"};
}

}  // namespace

Result<std::uint64_t> SentMemory::introduce(const SharedRegion& region, std::uint64_t in_use,
                                            int socket) {
  if (std::ranges::find(introduced_, region.id()) != introduced_.end()) return std::uint64_t{0};
  RINGSIDE_TRY(send_fd(socket, region.fd(), deadline_in(kFileWait)));
  std::uint64_t forgotten = 0;
  if (introduced_.size() == kMostMemories) {
    const auto oldest =
        std::ranges::find_if(introduced_, [in_use](std::uint64_t id) { return id != in_use; });
    forgotten = *oldest;
    introduced_.erase(oldest);
  }
  introduced_.push_back(region.id());
  return forgotten;
}

Result<Reference> SentMemory::refer(SharedSpan data, SharedSpan result, std::size_t bytes,
                                    int socket) {
  Reference reference;
  reference.data = {data.region->id(), data.offset};
  reference.bytes = bytes;
  RINGSIDE_TRY(reference.forgotten[0], introduce(*data.region, 0, socket));
  if (result.region != nullptr) {
    reference.result = {result.region->id(), result.offset};
    RINGSIDE_TRY(reference.forgotten[1], introduce(*result.region, data.region->id(), socket));
  }
  return reference;
}

Result<std::span<std::byte>> ReceivedMemory::find(const Reference::Place& place, std::size_t bytes,
                                                  int socket) {
  auto known = std::ranges::find(known_, place.memory, &Known::memory);
  if (known == known_.end()) {
    if (known_.size() >= kMostMemories + 2) return no_reference("too many memories");
    RINGSIDE_TRY(const UniqueFd file, recv_fd(socket, deadline_in(kFileWait)));
    RINGSIDE_TRY(const std::size_t size, sealed_size(file.get()));
    RINGSIDE_TRY(Mapping mapping, Mapping::map(file.get(), size));
    known = known_.insert(known_.end(), {place.memory, std::move(mapping)});
  }
  const std::size_t size = known->mapping.size();
  if (place.offset > size || bytes > size - place.offset) {
    return no_reference(fmt::format("{} bytes at {} of a memory of {}", bytes, place.offset, size));
  }
  return std::span(known->mapping.data() + place.offset, bytes);
}

Result<ReceivedMemory::Spans> ReceivedMemory::find(std::span<const std::byte> slot, int socket) {
  Reference reference;
  if (slot.size() != sizeof reference) return no_reference(fmt::format("{} bytes", slot.size()));
  std::memcpy(&reference, slot.data(), sizeof reference);
  if (reference.data.memory == 0 || reference.bytes == 0)
    return no_reference("it names no memory, or no bytes");
  std::erase_if(known_, [&](const Known& known) {
    return known.memory == reference.forgotten[0] || known.memory == reference.forgotten[1];
  });
  Spans spans;
  RINGSIDE_TRY(spans.data, find(reference.data, reference.bytes, socket));
  if (reference.result.memory != 0) {
    RINGSIDE_TRY(spans.result, find(reference.result, reference.bytes, socket));
  }
  return spans;
}

}  // namespace ringside
