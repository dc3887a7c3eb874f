#include "engine/debuglog/operation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/append.h"

namespace ringside {
namespace {

constexpr int kCellWidth = 14;
constexpr std::size_t kAlgorithmsInBlock = 3;

/// Returns the algorithms of a version's table, in NCCL's order.
std::vector<Algorithm> algorithms_of(NcclVersion version) {
  const int count = version.is_from(23)   ? 7
                    : version.is_from(18) ? 6
                    : version.is_from(17) ? 5
                    : version.is_from(14) ? 4
                                          : 3;
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) algorithms.push_back(static_cast<Algorithm>(i));
  return algorithms;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

/// Returns the spelling in the log of 2.24 and later: RING, NVLS_TREE, COLLNET_DIRECT.
std::string algorithm_name(Algorithm algorithm) { return upper_case(to_string(algorithm)); }
std::string protocol_name(Protocol protocol) { return upper_case(to_string(protocol)); }

std::string row_start(std::string_view name) { return fmt::format("{:>13} |", name); }

/// "  15.0/  80.6": latency and bandwidth.
std::string cost_text(NcclVersion version, const Cost& cost) {
  if (version.is_from(31) && !(cost.bandwidth_gbs > 0)) return "    -1.0/  -1.0";
  const bool is_shown = version.is_from(31) || cost.is_available();
  return fmt::format("{:8.1f}/{:6.1f}", cost.latency_us, is_shown ? cost.bandwidth_gbs : 0.0F);
}

void append_block(NcclVersion version, std::vector<std::string>& lines, const CostTable& table,
                  std::span<const Algorithm> algorithms) {
  constexpr std::array kProtocolsInOrder{Protocol::LL, Protocol::LL128, Protocol::Simple};
  constexpr std::array kRows{Collective::Broadcast, Collective::Reduce, Collective::AllGather,
                             Collective::ReduceScatter, Collective::AllReduce};
  std::string header = "  Algorithm   |";
  std::string protocols = "  Protocol    |";
  std::string threads = " Max NThreads |";
  for (const Algorithm algorithm : algorithms) {
    append(header, "{:>32}{:18}|", nccl_name(algorithm), "");
    for (const Protocol protocol : kProtocolsInOrder) {
      append(protocols, " {:>{}} |", nccl_name(protocol), kCellWidth);
      append(threads, " {:>{}} |",
             table.max_threads[static_cast<std::size_t>(algorithm)]
                              [static_cast<std::size_t>(protocol)],
             kCellWidth);
    }
  }
  lines.push_back(std::move(header));
  lines.push_back(std::move(protocols));
  if (version.is_before(31)) lines.push_back(std::move(threads));
  for (const Collective collective : kRows) {
    std::string row = row_start(nccl_name(collective));
    for (const Algorithm algorithm : algorithms) {
      for (const Protocol protocol : kProtocolsInOrder) {
        row += cost_text(version, table.cost(collective, algorithm, protocol)) + " |";
      }
    }
    lines.push_back(std::move(row));
  }
}

}  // namespace

std::string call_text(const CallFacts& call) {
  return fmt::format(
      "{}: opCount {:x} sendbuff {:#x} recvbuff {:#x} count {} datatype {} op {} root {} comm "
      "{:#x} [nranks={}] stream {:#x}",
      nccl_name(call.collective), call.op_count, call.send_buffer, call.recv_buffer, call.count,
      static_cast<int>(call.type), static_cast<int>(call.op), call.root, call.comm, call.nranks,
      call.stream);
}

std::string choice_text(NcclVersion version, Bytes bytes, const TunedChoice& choice,
                        int cga_cluster) {
  if (version.is_from(24)) {
    std::string text =
        fmt::format("{}: {} Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{{}..{}}}",
                    nccl_name(choice.collective), bytes.value, algorithm_name(choice.algorithm),
                    protocol_name(choice.protocol), choice.channels.first, choice.channels.last);
    if (version.is_from(31)) append(text, " cgaClusterSize {}", cga_cluster);
    return text;
  }
  const std::string text = fmt::format(
      "{} Bytes -> Algo {} proto {} time {:f}", bytes.value, static_cast<int>(choice.algorithm),
      static_cast<int>(choice.protocol), choice.prediction.time_us);
  if (version.is_before(23)) return text;
  return fmt::format("{}: {}", nccl_name(choice.collective), text);
}

std::vector<std::string> best_tuning_text(const CallFacts& call, const TunedChoice& choice) {
  constexpr int kThreadsOfWarp = 32;
  const int id =
      static_cast<int>(choice.algorithm) * kProtocols + static_cast<int>(choice.protocol);
  const std::string algorithm = algorithm_name(choice.algorithm);
  const std::string protocol = protocol_name(choice.protocol);
  return {fmt::format("Input: {{ .comm = {:#x}, .tuningMask = {:#x}, .func = {}, .redOp = {}, "
                      ".winRegType = 0, .regBuff = 0 }}",
                      call.comm, 1ULL << id, nccl_name(call.collective), static_cast<int>(call.op)),
          fmt::format("Best tuning {{ .id = {}, timeUs = {:f},  .algo = {}, .proto = {}, "
                      ".symKernelId = -1, nChannels = {}, nWarps = {}, forced = 0 }}",
                      id, choice.prediction.time_us, algorithm, protocol, choice.max_channels,
                      choice.nthreads / kThreadsOfWarp),
          fmt::format("Best tuning, algorithm, {}, protocol, {}", algorithm, protocol)};
}

std::vector<std::string> tuning_table_text(NcclVersion version, const CostTable& table) {
  std::vector<std::string> lines;
  const std::vector<Algorithm> algorithms = algorithms_of(version);
  const std::size_t block = version.is_from(23) ? kAlgorithmsInBlock : algorithms.size();
  for (std::size_t first = 0; first < algorithms.size(); first += block) {
    const std::size_t count = std::min(block, algorithms.size() - first);
    append_block(version, lines, table, std::span{algorithms}.subspan(first, count));
  }
  return lines;
}

}  // namespace ringside
