#include "diag/logparse/speakers.h"

#include <algorithm>
#include <cstring>

#include "diag/logparse/cursor.h"
#include "diag/logparse/speaker_table.h"

namespace ringside::logs {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32);
}

std::uint64_t hash_of(const SpeakerTable::Impl::Key& key) {
  const std::string_view host = key.host;
  std::uint64_t hash = host.size();
  std::size_t at = 0;
  std::uint64_t word = 0;
  for (; at + 8 <= host.size(); at += 8) {
    std::memcpy(&word, host.data() + at, 8);
    hash = mixed(hash, word);
  }
  if (at < host.size()) {
    word = 0;
    std::memcpy(&word, host.data() + at, host.size() - at);
    hash = mixed(hash, word);
  }
  const auto wide = [](std::int32_t number) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number));
  };
  hash = mixed(hash, wide(key.pid));
  return mixed(hash, wide(key.launcher_rank) << 32 | wide(key.local_rank));
}

}  // namespace

bool SpeakerTable::Impl::is_same(const Speaker& speaker, const Key& key) const {
  return speaker.pid == key.pid && speaker.launcher_rank == key.launcher_rank &&
         speaker.local_rank == key.local_rank && speaker.host == key.host;
}

std::uint32_t SpeakerTable::Impl::find(const Key& key) {
  const std::uint64_t hash = hash_of(key);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].id != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && is_same(speakers[slots_[at].id - 1], key))
      return slots_[at].id - 1;
  }
  return add(key, hash);
}

std::uint32_t SpeakerTable::Impl::add(const Key& key, std::uint64_t hash) {
  if (speakers.size() >= kMost) {  // more than any job has: random bytes that look like prefixes
    if (speakers.size() == kMost) speakers.emplace_back();
    return kMost;
  }
  if ((speakers.size() + 1) * 2 > slots_.size()) grow();
  Speaker speaker;
  speaker.host = key.host;
  speaker.pid = key.pid;
  speaker.launcher_rank = key.launcher_rank;
  speaker.local_rank = key.local_rank;
  speaker.file = key.file;
  speakers.push_back(std::move(speaker));
  if (!key.host.empty() && !knows_host(key.host)) {
    const std::string_view host = speakers.back().host;
    hosts_.insert(std::upper_bound(hosts_.begin(), hosts_.end(), host), host);
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != 0) at = (at + 1) & mask;
  slots_[at] = {hash, static_cast<std::uint32_t>(speakers.size())};
  return slots_[at].id - 1;
}

void SpeakerTable::Impl::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (larger[at].id != 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

bool SpeakerTable::Impl::knows_host(std::string_view host) const {
  return std::binary_search(hosts_.begin(), hosts_.end(), host);
}

std::uint32_t SpeakerTable::Impl::speaker_of(std::uint32_t file, std::string_view path) {
  if (of_file_.size() <= file) of_file_.resize(file + std::size_t{1});
  if (of_file_[file] == 0) {
    if (speakers.size() >= kMost) return add({}, 0);
    speakers.push_back(speaker_of_file(path));
    speakers.back().file = file;
    of_file_[file] = static_cast<std::uint32_t>(speakers.size());
  }
  return of_file_[file] - 1;
}

SpeakerTable::SpeakerTable() : impl_(std::make_unique<Impl>()) {}
SpeakerTable::~SpeakerTable() = default;

std::uint32_t SpeakerTable::size() const {
  return static_cast<std::uint32_t>(impl_->speakers.size());
}
const Speaker& SpeakerTable::operator[](std::uint32_t id) const { return impl_->speakers[id]; }

namespace {

/// Returns the number after `key` in a name, such as 3 in `rank_3.log` or `rank3`.
std::int32_t number_behind(std::string_view name, std::string_view key) {
  const std::size_t at = name.find(key);
  if (at == std::string_view::npos) return -1;
  Cursor cursor(name.substr(at + key.size()));
  while (cursor.eat('_') || cursor.eat('-') || cursor.eat('.') || cursor.eat('=')) continue;
  std::int32_t number = -1;
  return is_digit(cursor.peek()) && cursor.number(number) ? number : -1;
}

/// Reads a host and a pid at the end of a name, as made by `%h.%p`: `nccl.n01.4711.log`, `debug-n01-4711`.
void take_host_and_pid(std::string_view name, Speaker& speaker) {
  for (const std::string_view end : {".log", ".txt", ".out", ".err", ".gz", ".zst"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 >= name.size() || digits == 0) return;
  const char separator = name[digits];
  if (separator != '.' && separator != '-' && separator != '_') return;
  Cursor cursor(name.substr(digits + 1));
  std::int32_t pid = -1;
  if (!cursor.number(pid)) return;
  const std::string_view front = name.substr(0, digits);
  const std::size_t before = front.rfind(separator == '-' ? '.' : separator);
  if (before == std::string_view::npos) return;
  speaker.host = front.substr(before + 1);
  speaker.pid = pid;
}

/// Reads the host in the name of a kernel log: `dmesg-n04.txt`, `n04.dmesg`, `kern_n04.log`.
void take_host_of_kernel(std::string_view name, Speaker& speaker) {
  for (const std::string_view end : {".log", ".txt", ".out"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  constexpr std::string_view kBetween = "-_.";
  for (const std::string_view what : {"dmesg", "kern", "journal", "syslog"}) {
    const std::size_t longer = what.size() + 1;
    if (name.size() <= longer) continue;
    if (name.starts_with(what) && kBetween.find(name[what.size()]) != std::string_view::npos) {
      speaker.host = name.substr(longer);
    } else if (name.ends_with(what) &&
               kBetween.find(name[name.size() - longer]) != std::string_view::npos) {
      speaker.host = name.substr(0, name.size() - longer);
    }
  }
}

}  // namespace

Speaker speaker_of_file(std::string_view path) {
  Speaker speaker;
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  speaker.launcher_rank = number_behind(name, "rank");
  if (speaker.launcher_rank >= 0) return speaker;
  if (name.starts_with("stdout") || name.starts_with("stderr") || name == "error.json") {
    // <run>/attempt_<n>/<local rank>/stdout.log, and mpirun's <job>/rank.3/stdout
    if (slash == std::string_view::npos) return speaker;
    const std::string_view folders = path.substr(0, slash);
    const std::size_t upper = folders.rfind('/');
    const std::string_view folder =
        upper == std::string_view::npos ? folders : folders.substr(upper + 1);
    speaker.launcher_rank = number_behind(folder, "rank");
    Cursor cursor(folder);
    if (!cursor.number(speaker.local_rank) || !cursor.is_done()) speaker.local_rank = -1;
    return speaker;
  }
  take_host_and_pid(name, speaker);
  if (speaker.host.empty()) take_host_of_kernel(name, speaker);
  return speaker;
}

}  // namespace ringside::logs
