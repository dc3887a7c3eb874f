#include "engine/runtime/bootstrap/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/warning.h"
#include "engine/runtime/bootstrap/pmix_exchange.h"
#include "engine/transport/socket/interface.h"

namespace ringside {
namespace {

/// An address that all ranks know beforehand.
struct Place {
  std::string host;
  std::uint16_t port = 0;
  Secret secret;
  const char* method = "";
};

bool is_loopback_name(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Selects the first available method of rendezvous(), and applies it.
class Meeting {
 public:
  Meeting(const LaunchInfo& info, Nanoseconds join_timeout, const Environment& environment,
          Clock& clock)
      : info_(info), join_timeout_(join_timeout), environment_(environment), clock_(clock) {}

  Result<Rendezvous> arrange() {
    RINGSIDE_TRY(interface_settings_, interface_settings_from(environment_, is_single_host(info_)));
    RINGSIDE_TRY(interfaces_, local_interfaces());
    for (const char* name : {"RINGSIDE_COMM_ID", "NCCL_COMM_ID"}) {
      if (const auto text = environment_(name)) return by_comm_id(name, *text);
    }
    const auto address = environment_("MASTER_ADDR");
    const auto port = environment_("MASTER_PORT");
    if (address || port) return by_master(address, port);
    // Data that rank 0 publishes can only be looked up by PMIx rank.
    if (environment_("PMIX_NAMESPACE") && environment_("PMIX_RANK") == std::to_string(info_.rank)) {
      return by_pmix();
    }
    if (info_.launcher == Launcher::Slurm) return by_slurm();
    return no_method();
  }

 private:
  Result<Rendezvous> by_comm_id(const char* name, const std::string& text) {
    Rendezvous result;
    result.method = name;
    if (text.starts_with("ringside:")) {
      RINGSIDE_TRY(result.id, parse_unique_id(text));
      RINGSIDE_TRY(result.listen, requested_interface());
      return result;
    }
    const Result<HostPort> place = parse_host_port(text);
    if (!place) return unreadable(name, text, place.error());
    return meet_at(
        {place->host, place->port, secret_of(fmt::format("comm_id {}", place->port)), name});
  }

  Result<Rendezvous> by_master(const std::optional<std::string>& address,
                               const std::optional<std::string>& port_text) {
    if (!address || !port_text) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("environment variable {} is set, but {} is not",
                               address ? "MASTER_ADDR" : "MASTER_PORT",
                               address ? "MASTER_PORT" : "MASTER_ADDR"),
                   "set both or neither"};
    }
    const Result<std::int64_t> number = parse_int(*port_text);
    const bool has_agent = environment_("TORCHELASTIC_USE_AGENT_STORE") == "True";
    const std::int64_t most = has_agent ? 65534 : 65535;
    if (!number || *number < 1 || *number > most) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("environment variable MASTER_PORT='{}' is not a number from 1 to {}",
                               *port_text, most)};
    }
    const auto port = static_cast<std::uint16_t>(*number + (has_agent ? 1 : 0));
    const std::string run = environment_("TORCHELASTIC_RUN_ID").value_or("");
    return meet_at(
        {*address, port, secret_of(fmt::format("master {} {}", port, run)), "MASTER_ADDR"});
  }

  Result<Rendezvous> by_pmix() {
    Rendezvous result;
    result.method = "PMIx";
    std::optional<std::string> mine;
    if (info_.rank == 0) {
      RINGSIDE_TRY(const Interface interface, choose_interface(interfaces_, interface_settings_));
      RINGSIDE_TRY(result.root, start_root(interface.address, random_secret()));
      result.ticket = result.root->ticket();
      mine = to_string(result.root->id());
    }
    RINGSIDE_TRY(const std::string text, pmix_share(mine, deadline_in(join_timeout_, clock_)));
    RINGSIDE_TRY(result.id, parse_unique_id(text));
    RINGSIDE_TRY(result.listen, requested_interface());
    return result;
  }

  Result<Rendezvous> by_slurm() {
    const auto job = environment_("SLURM_JOB_ID");
    const auto step = environment_("SLURM_STEP_ID");
    auto hosts = environment_("SLURM_STEP_NODELIST");
    if (!hosts) hosts = environment_("SLURM_NODELIST");
    if (!job || !step || !hosts) return no_method();
    RINGSIDE_TRY(std::string host, first_host_of(*hosts));
    return meet_at({std::move(host), slurm_port(*job, *step),
                    secret_of(fmt::format("slurm {} {}", *job, *step)), "Slurm"});
  }

  /// Returns how to meet at the address: rank 0 listens there, and the other ranks connect to it.
  Result<Rendezvous> meet_at(const Place& place) {
    const bool is_here_only = is_single_host(info_) || is_loopback_name(place.host);
    RINGSIDE_TRY(const SocketAddress address,
                 resolve_address(place.host, place.port,
                                 interface_settings_.family.value_or(SocketAddress::Family::V4)));
    Rendezvous result;
    result.method = place.method;
    result.id = {address, place.secret};
    RINGSIDE_TRY(result.listen, requested_interface());
    if (info_.rank != 0) return result;

    // Here a host's own name often resolves to loopback (127.0.1.1 on Debian), and the name of a service to an address
    // that no interface has. The other hosts then use another address.
    const bool is_reachable = is_here_only || (has_interface(address) && !is_loopback(address));
    if (!is_reachable) {
      InterfaceSettings settings = interface_settings_;
      settings.family = address.family;  // family in which the other ranks resolve the name
      RINGSIDE_TRY(const Interface interface, choose_interface(interfaces_, settings));
      result.id.root = with_port(interface.address, address.port);
      if (!result.listen) result.listen = interface.address;
    }
    RINGSIDE_TRY(result.root, start_root(result.id.root, place.secret));
    result.ticket = result.root->ticket();
    const bool is_guessable = environment_("RINGSIDE_SECRET").value_or("").empty();
    if (is_guessable && info_.nranks > 1) warn_of_derived_secret(result.id.root, place.method);
    return result;
  }

  /// Printed by rank 0 only.
  static void warn_of_derived_secret(const SocketAddress& root, const char* method) {
    report_warning(
        {"engine/runtime/bootstrap/rendezvous.cpp", __LINE__, __func__},
        fmt::format(
            "RINGSIDE_SECRET is not set: the secret of this job is derived from {}'s "
            "port and ids, which others may know, and a process that reaches {} can join the "
            "job as a rank that has not come yet. Set RINGSIDE_SECRET to the same "
            "random text on every rank (openssl rand -hex 16).",
            method, to_string(root)));
  }

  Result<std::unique_ptr<BootstrapRoot>> start_root(const SocketAddress& listen,
                                                    const Secret& secret) {
    return BootstrapRoot::start({.listen = listen,
                                 .secret = secret,
                                 .wants_ticket = true,
                                 .nranks = info_.nranks,
                                 .join_timeout = join_timeout_,
                                 .clock = &clock_});
  }

  /// Returns the address that NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY request; nullopt if neither is set.
  Result<std::optional<SocketAddress>> requested_interface() {
    if (interface_settings_.names.empty() && !interface_settings_.family)
      return std::optional<SocketAddress>{};
    RINGSIDE_TRY(const Interface interface, choose_interface(interfaces_, interface_settings_));
    return std::optional(interface.address);
  }

  [[nodiscard]] bool has_interface(const SocketAddress& address) const {
    return std::ranges::any_of(
        interfaces_, [&](const Interface& one) { return one.address == with_port(address, 0); });
  }

  [[nodiscard]] Secret secret_of(const std::string& job) const {
    return derive_secret(fmt::format("{}\n{}", job, environment_("RINGSIDE_SECRET").value_or("")));
  }

  static Error unreadable(const char* name, const std::string& text, const Error& why) {
    return {ErrorCode::InvalidArgument,
            fmt::format("environment variable {}='{}': {}", name, text, why.message), why.help};
  }

  [[nodiscard]] Error no_method() const {
    return {ErrorCode::InvalidArgument,
            fmt::format("rank {} of {}, started by {}, has no way to find rank 0", info_.rank,
                        info_.nranks, to_string(info_.launcher)),
            "set MASTER_ADDR and MASTER_PORT (rank 0's host, a free port) on every rank, or "
            "NCCL_COMM_ID=HOST:PORT"};
  }

  const LaunchInfo& info_;
  const Nanoseconds join_timeout_;
  const Environment& environment_;
  Clock& clock_;
  InterfaceSettings interface_settings_;
  std::vector<Interface> interfaces_;
};

}  // namespace

std::uint16_t slurm_port(std::string_view job, std::string_view step) {
  // Below the range from which the kernel takes the ports of outgoing connections (32768 and up).
  constexpr unsigned kFirst = 20'000;
  constexpr unsigned kCount = 10'000;
  const Secret hash = derive_secret(fmt::format("slurm port {} {}", job, step));
  const unsigned value = std::to_integer<unsigned>(hash.bytes[0]) |
                         std::to_integer<unsigned>(hash.bytes[1]) << 8 |
                         std::to_integer<unsigned>(hash.bytes[2]) << 16;
  return static_cast<std::uint16_t>(kFirst + value % kCount);
}

Result<Rendezvous> rendezvous(const LaunchInfo& info, Nanoseconds join_timeout,
                              const Environment& environment, Clock& clock) {
  return Meeting(info, join_timeout, environment, clock).arrange();
}

}  // namespace ringside
