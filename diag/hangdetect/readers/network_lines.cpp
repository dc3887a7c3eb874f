#include "diag/hangdetect/readers/network_lines.h"

#include <fmt/format.h>

#include <array>

#include "diag/logparse/message.h"

namespace ringside::hang {
namespace {

using logs::MessageId;

/// What a completion's status means for a job.
std::string_view meaning_of(std::int64_t status) {
  switch (status) {
    case 1:
      return "the message is longer than what was posted for it: ranks disagree";
    case 4:
      return "a local memory key is invalid";
    case 5:
      return "flushed: its queue had failed before";
    case 9:
      return "refused by the peer";
    case 10:
      return "a remote memory key is invalid";
    case 11:
      return "the peer failed inside";
    case 12:
      return "transport retries exhausted: the peer is dead or the path is lost";
    case 13:
      return "the receiver posted nothing: the peer is stuck or slow";
    default:
      return "failed";
  }
}

/// The word behind ` hca ` or ` hca: `; empty where there is none.
std::string_view adapter_in(std::string_view line) {
  const std::size_t at = line.rfind(" hca ");
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + 5);
  return rest.substr(0, rest.find_first_of(" \r\n,"));
}

std::string where(std::string_view host, std::string_view adapter) {
  std::string text(host.empty() ? std::string_view("a host") : host);
  if (!adapter.empty()) text += fmt::format(", adapter {}", adapter);
  return text;
}

}  // namespace

std::optional<NetworkFailure> network_failure(const logs::Record& record, std::string_view host) {
  NetworkFailure out;
  if (logs::is_message(record, MessageId::IbCompletion)) {
    out.status = logs::message_number(record, "status", 0);
    out.is_consequence = out.status == 5;
    const std::string_view peer = logs::message_argument(record, "peer");
    out.text = fmt::format("{}: completion {} ({})", where(host, adapter_in(record.line)),
                           out.status, meaning_of(out.status));
    // The port behind the address is the connection's own, and says nothing.
    if (!peer.empty()) out.text += fmt::format(" from peer {}", peer.substr(0, peer.find('<')));
    return out;
  }
  const bool is_event = logs::is_message(record, MessageId::IbAsyncEvent);
  if (is_event || logs::is_message(record, MessageId::IbAsyncFatal)) {
    const std::string_view event = logs::message_argument(record, "event");
    const bool is_down = event.find("port error") != std::string_view::npos ||
                         event.find("PORT_ERR") != std::string_view::npos ||
                         event.find("fatal") != std::string_view::npos;
    if (is_event && !is_down) return std::nullopt;
    out.is_consequence = is_event;
    out.text = fmt::format("{}: {}", where(host, logs::message_argument(record, "device")), event);
    return out;
  }
  if (logs::is_message(record, MessageId::IbDevicesLost)) {
    out.text = where(host, {}) + ": all ports of a connection failed";
    return out;
  }
  return std::nullopt;
}

std::int64_t network_code(const NetworkFailure& failure) {
  constexpr std::int64_t kFlushStatus = 5;
  if (!failure.is_consequence) return 0;
  return failure.status == kFlushStatus ? kFlushed : kPortEvent;
}

std::string_view network_step(std::string_view text) {
  struct Step {
    std::string_view of, text;
  };
  static constexpr std::array kSteps = {
      Step{"completion 1 ",
           "compare what both ends call there: the receiver expects less than is sent"},
      Step{"completion 4 ",
           "on the host that reports it: run once with NCCL_NET_GDR_LEVEL=LOC; if that helps, "
           "iommu=pt, "
           "ACS off, a driver that fits nvidia-peermem"},
      Step{"completion 5 ",
           "look for the first failed completion before it, in the logs of both hosts: a queue is "
           "flushed after it has failed"},
      Step{"completion 9 ",
           "update the adapter's driver and firmware on both ends, and see the "
           "peer's log: it refused the request"},
      Step{"completion 10 ",
           "on the peer's host: run once with NCCL_NET_GDR_LEVEL=LOC; if that helps, iommu=pt and "
           "ACS "
           "off there"},
      Step{"completion 11 ", "read the peer's kernel log (dmesg, mlx5) and its process's own"},
      Step{
          "completion 12 ",
          "test the path between the two ends that the line names: ib_write_bw between them, "
          "ibstat "
          "and perfquery on both (link downs, symbol errors), on RoCE the GID and PFC; and whether "
          "the peer's process still lived"},
      Step{"completion 13 ",
           "take the stack of the peer's process (py-spy dump): it posts no receives"}};
  for (const Step& step : kSteps) {
    if (text.find(step.of) != std::string_view::npos) return step.text;
  }
  return "ibstat and dmesg (mlx5) on the host that reports it: the adapter, its port, the cable; "
         "then "
         "`ncclras -v` twice, 30 s apart";
}

}  // namespace ringside::hang
