#include "engine/transport/open_transports.h"

#include <algorithm>
#include <utility>

#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

constexpr std::size_t index_of(Door door) { return static_cast<std::size_t>(door); }

}  // namespace

Result<std::unique_ptr<OpenTransports>> OpenTransports::open(
    const LocalSite& here, const Secret& secret, std::span<const Transport* const> wanted,
    const Transport* needed) {
  std::unique_ptr<OpenTransports> made(new OpenTransports(secret));
  made->whereabouts_.rank = here.rank;
  made->whereabouts_.host = here.host;
  for (const Transport* transport : wanted) {
    const Status opened = made->open_one(here, *transport);
    const bool may_lack = transport != needed;
    if (!opened && !(may_lack && opened.error().code == ErrorCode::Unsupported)) {
      return opened.error();
    }
  }
  return made;
}

Status OpenTransports::open_one(const LocalSite& here, const Transport& transport) {
  Opened opened{&transport, nullptr};
  if (transport.listen != nullptr) {
    RINGSIDE_TRY(opened.state, transport.listen(here));
  }
  const std::size_t door = index_of(transport.door);
  if (transport.door != Door::None && !doors_.at(door)) {
    const Endpoint place = transport.door == Door::Host ? Endpoint{fresh_name("data")}
                                                        : Endpoint{with_port(here.interface, 0)};
    RINGSIDE_TRY(doors_.at(door), Acceptor::listen(place, secret_, {}, *here.clock));
    whereabouts_.doors.at(door) = to_string(doors_.at(door)->address());
  }
  const std::string address = opened.state ? opened.state->address() : std::string();
  RINGSIDE_ASSERT(address.size() <= kLongestAddress, "{}: an address of {} bytes", transport.name,
                  address.size());
  whereabouts_.open.push_back({std::string(transport.name), address});
  opened_.push_back(std::move(opened));
  return {};
}

Result<UniqueFd> OpenTransports::dial(const Transport& transport, const Whereabouts& to,
                                      std::span<const std::byte> hello,
                                      const Patience& patience) const {
  const std::size_t door = index_of(transport.door);
  RINGSIDE_TRY(const Endpoint endpoint, parse_endpoint(to.doors.at(door)));
  return connect_authenticated(endpoint, secret_, hello, patience, NoListener::IsEnd);
}

Result<Accepted> OpenTransports::accept(const Transport& transport,
                                        const Patience& patience) const {
  return doors_.at(index_of(transport.door))->accept(patience);
}

bool OpenTransports::can_accept(const Transport& transport) const {
  return is_readable(doors_.at(index_of(transport.door))->ready_fd());
}

Joint OpenTransports::joint(const Transport& transport, const Whereabouts& other, UniqueFd peer,
                            ConnectionShape shape, std::uint32_t channel,
                            const Patience& patience) const {
  const auto mine = std::ranges::find(opened_, &transport, &Opened::transport);
  const std::string* address = other.address_on(transport.name);
  RINGSIDE_ASSERT(mine != opened_.end() && address != nullptr, "{} is not open", transport.name);
  return {.peer = std::move(peer),
          .shape = shape,
          .channel = channel,
          .address = *address,
          .state = mine->state.get(),
          .patience = patience};
}

}  // namespace ringside
