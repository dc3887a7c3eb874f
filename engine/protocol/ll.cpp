#include "engine/protocol/ll.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little, "data in front, flag behind");
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

constexpr std::uint64_t kLinesABlock = 8;  // lines in a cache line
constexpr std::uint64_t kBlockData = kLinesABlock * Ll::kLineData;

std::uint32_t flag_of(std::uint64_t step) { return static_cast<std::uint32_t>(step + 1); }

std::uint64_t* lines_in(std::byte* slot) { return reinterpret_cast<std::uint64_t*>(slot); }

void store(std::uint64_t& line, std::uint64_t value) {
  std::atomic_ref(line).store(value, std::memory_order_relaxed);
}

std::uint64_t load(std::uint64_t& line) {
  return std::atomic_ref(line).load(std::memory_order_relaxed);
}

std::uint64_t word_at(const std::byte* data) {
  std::uint32_t word = 0;
  std::memcpy(&word, data, sizeof word);
  return word;
}

/// Packs whole lines, and a partial one if the data ends within a line.
std::uint64_t* pack_data(std::uint64_t* line, const std::byte* data, std::size_t bytes,
                         std::uint64_t high) {
  for (; bytes >= Ll::kLineData; bytes -= Ll::kLineData, data += Ll::kLineData) {
    store(*line++, high | word_at(data));
  }
  if (bytes > 0) {
    std::uint32_t word = 0;
    std::memcpy(&word, data, bytes);
    store(*line++, high | word);
  }
  return line;
}

/// returns  false: a line has not arrived; words that were written are written again later
bool unpack_block(std::uint64_t* line, std::byte* to, std::uint32_t flag) {
  std::uint64_t differing = 0;
  std::uint32_t words[kLinesABlock];
  for (std::uint64_t i = 0; i < kLinesABlock; ++i) {
    const std::uint64_t value = load(line[i]);
    differing |= (value >> 32) ^ flag;
    words[i] = static_cast<std::uint32_t>(value);
  }
  if (differing != 0) return false;
  std::memcpy(to, words, sizeof words);
  return true;
}

}  // namespace

/// Returns whether the step is among the last, one for each slot, before the low 31 bits start over.
bool Ll::fills_slot(std::uint64_t step, std::uint64_t slots) {
  const std::uint64_t mask = 0x80000000 - slots;
  return (step & mask) == mask;
}

void Ll::pack(std::byte* slot, Bytes slot_size, std::span<const std::byte> data, std::uint64_t step,
              std::uint64_t slots) {
  const std::uint64_t high = std::uint64_t{flag_of(step)} << 32;
  std::uint64_t* const lines = lines_in(slot);
  // The size is stored last into the first cache line, because the receiver polls it: a poll between two stores would
  // take the cache line away from the sending core.
  const std::size_t first = std::min<std::size_t>(data.size(), kBlockData - kLineData);
  std::uint64_t* end = pack_data(lines + 1, data.data(), first, high);
  store(lines[0], high | data.size());
  end = pack_data(end, data.data() + first, data.size() - first, high);
  if (!fills_slot(step, slots)) return;
  std::uint64_t* const slot_end = lines + wire_size(slot_size).value / kLine;
  while (end != slot_end) store(*end++, high);
}

Arrival Ll::unpack(std::byte* slot, Bytes slot_size, std::uint64_t step, std::byte* to,
                   Unpacked& so_far) {
  const std::uint32_t flag = flag_of(step);
  std::uint64_t* const lines = lines_in(slot);
  if (so_far.size == 0) {
    const std::uint64_t first = load(lines[0]);
    if (first >> 32 != flag) return Arrival::Partly;
    so_far.size = static_cast<std::uint32_t>(first);
    if (so_far.size == 0 || so_far.size > slot_size.value) return Arrival::BadSize;
  }
  std::uint64_t done = so_far.done;
  std::uint64_t* line = lines + 1 + done / kLineData;
  while (so_far.size - done >= kBlockData && unpack_block(line, to + done, flag)) {
    line += kLinesABlock;
    done += kBlockData;
  }
  while (done < so_far.size) {
    const std::uint64_t value = load(*line++);
    if (value >> 32 != flag) break;
    const auto word = static_cast<std::uint32_t>(value);
    const std::uint64_t bytes = std::min(kLineData, so_far.size - done);
    if (bytes == kLineData) {
      std::memcpy(to + done, &word, kLineData);
    } else {
      std::memcpy(to + done, &word, bytes);
    }
    done += bytes;
  }
  so_far.done = done;
  return done == so_far.size ? Arrival::Whole : Arrival::Partly;
}

Bytes Ll::announced_size(std::byte* slot) {
  return Bytes{static_cast<std::uint32_t>(load(lines_in(slot)[0]))};
}

std::optional<StrayFlag> Ll::find_stray(std::span<std::byte> lines, std::uint64_t step) {
  const std::uint32_t due = flag_of(step);
  for (std::uint64_t i = 0; i < lines.size() / kLine; ++i) {
    const std::uint64_t found = load(lines_in(lines.data())[i]) >> 32;
    if (found != due) return StrayFlag{i, found, due};
  }
  return std::nullopt;
}

}  // namespace ringside
