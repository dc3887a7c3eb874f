#include "engine/transport/tcp/socket_counts.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "engine/transport/tcp/striped.h"

namespace ringside {
namespace {

/// returns  `otherwise` if it is not set, or is -2, which NCCL uses for "not set"
Result<int> read_count(const Environment& environment, const char* name, int least, int most,
                       int otherwise) {
  if (environment(name) == "-2") return otherwise;
  RINGSIDE_TRY(const std::optional<std::int64_t> given, env_int(environment, name, least, most));
  return given ? static_cast<int>(*given) : otherwise;
}

class TcpState final : public TransportState {
 public:
  explicit TcpState(SocketCounts counts) : counts_(counts) {}
  [[nodiscard]] std::string address() const override { return to_string(counts_); }

 private:
  SocketCounts counts_;
};

}  // namespace

std::string to_string(SocketCounts counts) {
  return counts.is_striped() ? fmt::format("{}x{}", counts.threads, counts.per_thread) : "";
}

SocketCounts parse_socket_counts(std::string_view text) {
  const auto read = [](std::string_view part) {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() ? value : 0;
  };
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return {};
  const SocketCounts counts{read(text.substr(0, cross)), read(text.substr(cross + 1))};
  const bool is_sound = counts.threads >= 1 && counts.threads <= SocketCounts::kMostThreads &&
                        counts.per_thread >= 1 &&
                        counts.per_thread <= SocketCounts::kMostSockets / counts.threads;
  return is_sound ? counts : SocketCounts{};
}

Result<SocketCounts> socket_counts_from(const Environment& environment) {
  SocketCounts counts;
  RINGSIDE_TRY(const int per_thread,
               read_count(environment, "NCCL_NSOCKS_PERTHREAD", 1, SocketCounts::kMostSockets, 0));
  RINGSIDE_TRY(counts.threads, read_count(environment, "NCCL_SOCKET_NTHREADS", 0,
                                          SocketCounts::kMostThreads, per_thread > 0 ? 1 : 0));
  if (per_thread > 0) counts.per_thread = per_thread;
  if (counts.threads * counts.per_thread > SocketCounts::kMostSockets) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format(
            "NCCL_SOCKET_NTHREADS={} with NCCL_NSOCKS_PERTHREAD={} makes {} sockets a connection; "
            "there may be {}",
            counts.threads, counts.per_thread, counts.threads * counts.per_thread,
            SocketCounts::kMostSockets),
        "lower one of them"};
  }
  return counts;
}

SocketCounts socket_counts_of(std::string_view receiver, ConnectionShape shape) {
  const bool is_long = shape.protocol == Protocol::Simple && shape.slot_size > kLeastPart;
  return is_long ? parse_socket_counts(receiver) : SocketCounts{};
}

Result<std::unique_ptr<TransportState>> open_tcp(const LocalSite& here) {
  RINGSIDE_TRY(const SocketCounts counts, socket_counts_from(here.environment));
  return std::unique_ptr<TransportState>(std::make_unique<TcpState>(counts));
}

}  // namespace ringside
