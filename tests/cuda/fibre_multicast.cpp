#include "tests/cuda/fibre_multicast.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include "engine/transport/shm/mapping.h"
#include "engine/transport/shm/sealed_file.h"
#include "tests/cuda/fibre_switch.h"

namespace ringside {
namespace {

/// The state at the begin of the file, before the shares.
struct Members {
  std::uint32_t joined;
  std::uint32_t bound;
};
constexpr std::size_t kSharesAt = 128;

std::size_t share_of(const DeviceMulticast::Shape& shape) {
  return (shape.size.value + 127) / 128 * 128;
}
std::size_t size_of_all(const DeviceMulticast::Shape& shape) {
  return kSharesAt + share_of(shape) * static_cast<std::size_t>(shape.members);
}

class FibreMulticast final : public DeviceMulticast {
 public:
  Result<UniqueFd> make(const Shape& shape) override {
    return make_sealed_file(size_of_all(shape));
  }

  Status join(const UniqueFd& file, const Shape& shape, int index) override {
    RINGSIDE_TRY(const std::size_t size, sealed_size(file.get()));
    if (size != size_of_all(shape)) return Error{ErrorCode::System, "a member of another shape"};
    RINGSIDE_TRY(Mapping mapping, Mapping::map(file.get(), size));
    mappings_.push_back(std::move(mapping));
    shape_ = shape;
    index_ = static_cast<std::size_t>(index);
    std::atomic_ref(members().joined).fetch_add(1);
    return {};
  }

  Result<SwitchSlots> bind() override {
    const auto all = static_cast<std::uint32_t>(shape_.members);
    if (std::atomic_ref(members().joined).load() != all) {
      return Error{ErrorCode::System, "somebody binds memory before all have joined"};
    }
    std::vector<std::byte*> copies;
    for (int i = 0; i < shape_.members; ++i) {
      copies.push_back(mappings_.back().data() + kSharesAt +
                       share_of(shape_) * static_cast<std::size_t>(i));
    }
    RINGSIDE_TRY(std::byte* const at,
                 FibreSwitch::join(copies, share_of(shape_), &members().bound));
    std::atomic_ref(members().bound).fetch_add(1);
    return SwitchSlots{.own = copies.at(index_), .all = at};
  }

 private:
  [[nodiscard]] Members& members() { return *reinterpret_cast<Members*>(mappings_.back().data()); }

  Shape shape_;
  std::size_t index_ = 0;
  std::vector<Mapping> mappings_;  ///< the last one belongs to the memory that was joined last
};

}  // namespace

std::unique_ptr<DeviceMulticast> make_fibre_multicast() {
  return std::make_unique<FibreMulticast>();
}

}  // namespace ringside
