#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/cuda/device/lay_out.h"
#include "tests/cuda/fibre_switch.h"

namespace ringside {

/// Connections among ranks that each act as a GPU of their own behind one switch, although all their memory is in one
/// device.
class SwitchConnections final : public DeviceConnections {
 public:
  using DeviceConnections::DeviceConnections;

  Result<SwitchSlots> slots_of(const SwitchName& name, Rank member) override {
    Slots& slots = slots_[name];
    if (slots.all == nullptr) {
      const std::size_t bytes = switch_memory(name, this->slots());
      for (std::size_t i = 0; i < name.members.size(); ++i) {
        RINGSIDE_TRY(std::byte* const copy, memory().take(Bytes{bytes}));
        slots.copies.push_back(copy);
      }
      RINGSIDE_TRY(slots.all, FibreSwitch::join(slots.copies, bytes));
    }
    const auto at = std::ranges::find(name.members, member) - name.members.begin();
    return SwitchSlots{.own = slots.copies.at(static_cast<std::size_t>(at)), .all = slots.all};
  }

  [[nodiscard]] bool is_used() const { return !slots_.empty(); }

 private:
  struct Slots {
    std::vector<std::byte*> copies;  ///< by member
    std::byte* all = nullptr;
  };
  std::map<SwitchName, Slots> slots_;
};

}  // namespace ringside
