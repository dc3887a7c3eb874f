#include "trace/decode.h"

#include <bit>
#include <cstring>
#include <string>

#include "base/algorithms.h"
#include "base/assert.h"
#include "trace/format.h"
#include "trace/rtrace_generated.h"

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little,
              "columns are read as they lie in the file");

/// Times lie in [-2^62, 2^62), so that any duration fits.
constexpr std::int64_t kFarthestNs = std::int64_t{1} << 62;

template <typename T>
bool is_aligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0;
}

template <typename T>
const T* pointer_to(const std::byte* bytes) {
  return static_cast<const T*>(static_cast<const void*>(bytes));
}

/// errors  false: neither `size` entries nor one; or askew, which the FlatBuffers verifier lets pass
template <typename T, typename Field>
bool read_column(const flatbuffers::Vector<T>* vector, std::size_t size, Field absent,
                 TraceColumn<T>& column) {
  if (vector == nullptr) {
    column = TraceColumn<T>(static_cast<T>(absent));
    return true;
  }
  const auto* entries = pointer_to<T>(std::as_bytes(std::span(vector->Data(), 1)).data());
  if (!is_aligned<T>(entries)) return false;
  if (vector->size() == size) {
    column = TraceColumn<T>(entries);
  } else if (vector->size() == 1) {
    column = TraceColumn<T>(*entries);
  } else {
    return false;
  }
  return true;
}

bool read_columns(const rtrace::Events& events, std::size_t& size, TraceColumns& to) {
  size = events.begin_ns() == nullptr ? 0 : events.begin_ns()->size();
  const TraceEvent absent;
  return size > 0 && read_column(events.begin_ns(), size, absent.begin_ns, to.begin_ns) &&
         read_column(events.end_ns(), size, absent.end_ns, to.end_ns) &&
         read_column(events.offset(), size, absent.offset, to.offset) &&
         read_column(events.bytes(), size, absent.bytes, to.bytes) &&
         read_column(events.sequence(), size, absent.sequence, to.sequence) &&
         read_column(events.communicator(), size, absent.communicator, to.communicator) &&
         read_column(events.rank(), size, absent.rank, to.rank) &&
         read_column(events.recv_peer(), size, absent.recv_peer, to.recv_peer) &&
         read_column(events.send_peer(), size, absent.send_peer, to.send_peer) &&
         read_column(events.step(), size, absent.step, to.step) &&
         read_column(events.channel(), size, absent.channel, to.channel) &&
         read_column(events.kind(), size, absent.kind, to.kind) &&
         read_column(events.primitive(), size, absent.primitive, to.primitive) &&
         read_column(events.collective(), size, absent.collective, to.collective) &&
         read_column(events.algorithm(), size, absent.algorithm, to.algorithm) &&
         read_column(events.protocol(), size, absent.protocol, to.protocol) &&
         read_column(events.is_modelled(), size, absent.is_modelled, to.is_modelled);
}

std::string text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

/// Returns whether the texts of the pairs fit into a payload of `size` bytes. Offsets may point at one text again and
/// again, which makes megabytes of a few thousand bytes; no writer of ours does that.
bool are_values_their_own(const rtrace::Info& from, std::size_t size) {
  if (from.values() == nullptr) return true;
  std::size_t sum = 0;
  for (const rtrace::KeyValue* value : *from.values()) {
    if (value->key() != nullptr) sum += value->key()->size();
    if (value->value() != nullptr) sum += value->value()->size();
    if (sum > size) return false;
  }
  return true;
}

TraceInfo info_of(const rtrace::Info& from) {
  TraceInfo info;
  info.clock = from.clock() == 1 ? TraceClock::Simulated : TraceClock::HostMonotonic;
  info.host = text_of(from.host());
  info.pid = from.pid();
  info.version = text_of(from.version());
  info.realtime_offset = Nanoseconds{from.realtime_offset_ns()};
  info.command_line = text_of(from.command_line());
  if (from.values() != nullptr) {
    for (const rtrace::KeyValue* value : *from.values()) {
      info.values.emplace_back(text_of(value->key()), text_of(value->value()));
    }
  }
  return info;
}

const std::uint8_t* bytes_of(std::span<const std::byte> payload) {
  return pointer_to<std::uint8_t>(payload.data());
}

/// Returns the payload where it lies, or a copy of it in `copy` where it lies askew.
std::span<const std::byte> aligned(std::span<const std::byte> payload,
                                   std::unique_ptr<std::uint64_t[]>& copy) {
  if (is_aligned<std::uint64_t>(payload.data())) return payload;
  copy = std::make_unique<std::uint64_t[]>(payload.size() / sizeof(std::uint64_t));
  std::memcpy(copy.get(), payload.data(), payload.size());
  return std::as_bytes(std::span(copy.get(), payload.size() / sizeof(std::uint64_t)));
}

}  // namespace

BlockContent BlockDecoder::decode(std::span<const std::byte> payload, TraceBlock& block,
                                  TraceInfo& info) {
  std::unique_ptr<std::uint64_t[]> copy;
  payload = aligned(payload, copy);
  flatbuffers::Verifier verifier(bytes_of(payload), payload.size());
  if (!rtrace::VerifyBlockBuffer(verifier)) return BlockContent::Malformed;
  const rtrace::Block* root = rtrace::GetBlock(bytes_of(payload));
  if (root->events() != nullptr) {
    if (!read_columns(*root->events(), block.size_, block.columns_)) return BlockContent::Malformed;
    block.aligned_copy_ = std::move(copy);
    return BlockContent::Events;
  }
  if (root->dump() != nullptr) return BlockContent::Dump;
  if (root->info() == nullptr) return BlockContent::Unknown;
  if (!are_values_their_own(*root->info(), payload.size())) return BlockContent::Malformed;
  info = info_of(*root->info());
  return BlockContent::Info;
}

TraceBlock BlockDecoder::events(std::span<const std::byte> payload, std::uint32_t pid) {
  TraceBlock block;
  block.pid_ = pid;
  payload = aligned(payload, block.aligned_copy_);
  const bool is_read =
      read_columns(*rtrace::GetBlock(bytes_of(payload))->events(), block.size_, block.columns_);
  RINGSIDE_ASSERT(is_read, "a block that decode() has accepted");
  return block;
}

TraceDumpPart BlockDecoder::dump(std::span<const std::byte> payload,
                                 std::unique_ptr<std::uint64_t[]>& copy) {
  payload = aligned(payload, copy);
  const rtrace::DumpPart& part = *rtrace::GetBlock(bytes_of(payload))->dump();
  TraceDumpPart read{part.rank(), part.offset(), part.total_bytes(), {}};
  if (part.bytes() != nullptr) {
    read.bytes = std::as_bytes(std::span(part.bytes()->data(), part.bytes()->size()));
  }
  return read;
}

bool TraceBlock::is_readable(std::size_t i) const {
  constexpr auto beyond = [](auto last) { return static_cast<unsigned>(last) + 1; };
  return columns_.begin_ns[i] >= -kFarthestNs && columns_.end_ns[i] < kFarthestNs &&
         columns_.begin_ns[i] <= columns_.end_ns[i] && columns_.rank[i] >= 0 &&
         columns_.kind[i] < beyond(EventKind::Compute) &&
         columns_.primitive[i] < beyond(Primitive::RecvSend) &&
         columns_.collective[i] < beyond(Collective::AllGatherV) &&
         columns_.algorithm[i] < kAlgorithmCount &&
         columns_.protocol[i] < beyond(Protocol::Simple) && columns_.is_modelled[i] <= 1;
}

TraceEvent TraceBlock::event(std::size_t i) const {
  TraceEvent event;
  event.begin_ns = columns_.begin_ns[i];
  event.end_ns = columns_.end_ns[i];
  event.offset = columns_.offset[i];
  event.bytes = columns_.bytes[i];
  event.sequence = columns_.sequence[i];
  event.communicator = columns_.communicator[i];
  event.rank = columns_.rank[i];
  event.recv_peer = columns_.recv_peer[i];
  event.send_peer = columns_.send_peer[i];
  event.step = columns_.step[i];
  event.channel = columns_.channel[i];
  event.kind = static_cast<EventKind>(columns_.kind[i]);
  event.primitive = static_cast<Primitive>(columns_.primitive[i]);
  event.collective = static_cast<Collective>(columns_.collective[i]);
  event.algorithm = static_cast<Algorithm>(columns_.algorithm[i]);
  event.protocol = static_cast<Protocol>(columns_.protocol[i]);
  event.is_modelled = columns_.is_modelled[i] != 0;
  return event;
}

}  // namespace ringside
