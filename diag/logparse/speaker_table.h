#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "diag/logparse/speakers.h"

namespace ringside::logs {

/// The implementation of a SpeakerTable: finds or makes a speaker by its prefixes.
struct SpeakerTable::Impl {
  /// The identity of a speaker.
  struct Key {
    std::string_view host;
    std::int32_t pid = -1;
    std::int32_t launcher_rank = -1;
    std::int32_t local_rank = -1;
    std::uint32_t file = 0;  ///< file in which it first appears; not compared
  };

  std::uint32_t find(const Key& key);

  /// Returns whether a speaker is on this host.
  [[nodiscard]] bool knows_host(std::string_view host) const;

  /// Returns the speaker of a file's name (speaker_of_file()), computed once for each file.
  std::uint32_t speaker_of(std::uint32_t file, std::string_view path);

  static constexpr std::uint32_t kMost = 1 << 18;  ///< further speakers are one nameless speaker

  std::deque<Speaker> speakers;  ///< their strings stay where they are

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  ///< one more than the index; 0: free
  };
  [[nodiscard]] bool is_same(const Speaker& speaker, const Key& key) const;
  std::uint32_t add(const Key& key, std::uint64_t hash);
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  std::vector<std::string_view> hosts_;  ///< sorted
  /// Speakers of lines without prefix; one more than the index
  std::vector<std::uint32_t> of_file_;
};

}  // namespace ringside::logs
