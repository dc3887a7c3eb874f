#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "diag/hangdetect/readers/call.h"

namespace ringside::hang {

/// Name and description of a group.
struct GroupName {
  std::string name;
  std::string description;
};

/// Interning tables for the signatures, stacks and group names of a job: equal entries of all ranks are stored once and
/// referred to by number.
///
/// Numbers are assigned in the order of first use and never change. Stack 0 is empty. Signature 0 has no name and
/// represents a call of which only the sequence number is known.
///
/// Threads    any threads may call add_*() concurrently; read only while no thread adds
/// Ownership  references stay valid as long as the object
class Names {
 public:
  Names();

  /// Returns the number of the entry with this hash. Calls `make` to create the entry on first use. Equal hashes mean equal
  /// entries: hash every field that distinguishes two entries, 64 bits of it.
  std::uint32_t add_signature(std::uint64_t hash, const std::function<Signature()>& make);
  std::uint32_t add_stack(std::uint64_t hash, const std::function<Stack()>& make);
  std::uint32_t add_group(std::uint64_t hash, const std::function<GroupName()>& make);

  [[nodiscard]] const Signature& signature(std::uint32_t number) const {
    return signatures_.entries[number];
  }
  [[nodiscard]] const Stack& stack(std::uint32_t number) const { return stacks_.entries[number]; }
  [[nodiscard]] const GroupName& group(std::uint32_t number) const {
    return groups_.entries[number];
  }
  [[nodiscard]] std::size_t group_count() const { return groups_.entries.size(); }
  [[nodiscard]] std::size_t signature_count() const { return signatures_.entries.size(); }

 private:
  template <typename T>
  struct Table {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::deque<T> entries;

    std::uint32_t add(std::uint64_t hash, const std::function<T()>& make);
  };
  Table<Signature> signatures_;
  Table<Stack> stacks_;
  Table<GroupName> groups_;
};

}  // namespace ringside::hang
