#include "engine/protocol/ll128.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace ringside {
namespace {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

constexpr std::uint64_t kSizeAt = Ll128::kFirstLineData;

std::atomic_ref<std::uint64_t> flag_in(std::byte* line) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(line + Ll128::kLineData));
}

/// Returns where the data starts in a first line that holds `bytes` of data.
std::byte* first_data(std::byte* line, std::uint64_t bytes) {
  return line + kSizeAt - round_up(bytes, sizeof(std::uint64_t));
}

/// Copies the data of a line. For the two usual lengths the compiler knows the length, and makes the copy a few
/// instructions.
void copy_line(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes == Ll128::kLineData) {
    std::memcpy(to, from, Ll128::kLineData);
  } else if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

void Ll128::pack(std::byte* slot, Bytes /*slot_size*/, std::span<const std::byte> data,
                 std::uint64_t step) {
  const std::uint64_t size = data.size();
  std::byte* line = slot;
  std::uint64_t bytes = std::min(size, kFirstLineData);
  copy_line(first_data(line, bytes), data.data(), bytes);
  std::memcpy(line + kSizeAt, &size, sizeof size);
  flag_in(line).store(step + 1, std::memory_order_release);
  for (std::uint64_t done = bytes; done < size; done += bytes) {
    line += kLine;
    bytes = std::min(size - done, kLineData);
    copy_line(line, data.data() + done, bytes);
    flag_in(line).store(step + 1, std::memory_order_release);
  }
}

Arrival Ll128::unpack(std::byte* slot, Bytes slot_size, std::uint64_t step, std::byte* to,
                      Unpacked& so_far) {
  if (so_far.size == 0) {
    if (flag_in(slot).load(std::memory_order_acquire) != step + 1) return Arrival::Partly;
    std::memcpy(&so_far.size, slot + kSizeAt, sizeof so_far.size);
    if (so_far.size == 0 || so_far.size > slot_size.value) return Arrival::BadSize;
    so_far.done = std::min(so_far.size, kFirstLineData);
    copy_line(to, first_data(slot, so_far.done), so_far.done);
  }
  std::uint64_t done = so_far.done;
  std::byte* line = slot + (done + kLineData - kFirstLineData) / kLineData * kLine;
  while (done < so_far.size && flag_in(line).load(std::memory_order_acquire) == step + 1) {
    const std::uint64_t bytes = std::min(so_far.size - done, kLineData);
    copy_line(to + done, line, bytes);
    done += bytes;
    line += kLine;
  }
  so_far.done = done;
  return done == so_far.size ? Arrival::Whole : Arrival::Partly;
}

Bytes Ll128::announced_size(std::byte* slot) {
  std::uint64_t size = 0;
  std::memcpy(&size, slot + kSizeAt, sizeof size);
  return Bytes{size};
}

std::optional<StrayFlag> Ll128::find_stray(std::span<std::byte> lines, std::uint64_t step) {
  for (std::uint64_t i = 0; i < lines.size() / kLine; ++i) {
    const std::uint64_t found = flag_in(lines.data() + i * kLine).load(std::memory_order_relaxed);
    if (found != step + 1) return StrayFlag{i, found, step + 1};
  }
  return std::nullopt;
}

}  // namespace ringside
