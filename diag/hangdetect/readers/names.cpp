#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

Names::Names() {
  stacks_.entries.emplace_back();
  stacks_.numbers[0] = 0;
  signatures_.entries.emplace_back();
}

// The hash identifies the content: 64 well-mixed bits over some thousand entries. A collision shows two contents
// under one name; nothing worse.
template <typename T>
std::uint32_t Names::Table<T>::add(std::uint64_t hash, const std::function<T()>& make) {
  const std::lock_guard lock(mutex);
  const auto [found, is_new] =
      numbers.try_emplace(hash, static_cast<std::uint32_t>(entries.size()));
  if (is_new) entries.push_back(make());
  return found->second;
}

std::uint32_t Names::add_signature(std::uint64_t hash, const std::function<Signature()>& make) {
  return signatures_.add(hash, make);
}
std::uint32_t Names::add_stack(std::uint64_t hash, const std::function<Stack()>& make) {
  return stacks_.add(hash, make);
}
std::uint32_t Names::add_group(std::uint64_t hash, const std::function<GroupName()>& make) {
  return groups_.add(hash, make);
}

}  // namespace ringside::hang
