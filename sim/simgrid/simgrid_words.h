#pragma once

#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

/// Functions with different names in SimGrid 3 (create) and SimGrid 4 (add). SimGrid 4 warns about
/// the old names.
namespace ringside {

template <typename Zone>
simgrid::s4u::Host* add_host(Zone& zone, const std::string& name, double flops) {
  if constexpr (requires { zone.add_host(name, flops); }) {
    return zone.add_host(name, flops);
  } else {
    return zone.create_host(name, flops);
  }
}

template <typename Zone>
simgrid::s4u::Link* add_link(Zone& zone, const std::string& name, double rate) {
  if constexpr (requires { zone.add_link(name, rate); }) {
    return zone.add_link(name, rate);
  } else {
    return zone.create_link(name, rate);
  }
}

template <typename Code, typename Engine = simgrid::s4u::Engine>
simgrid::s4u::ActorPtr add_actor(const std::string& name, simgrid::s4u::Host* host, Code code) {
  if constexpr (requires(Engine & engine) { engine.add_actor(name, host, code); }) {
    return Engine::get_instance()->add_actor(name, host, std::move(code));
  } else {
    return simgrid::s4u::Actor::create(name, host, std::move(code));
  }
}

}  // namespace ringside
