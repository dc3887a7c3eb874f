#include "tests/logs/said.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "engine/topology/sources/load_hosts.h"
#include "harness/logs/log_files.h"

namespace ringside::said {
namespace {

/// Parses e.g. "Channel 02/0 : 7[7] -> 8[0] [send] via NET/IB/2(3)/GDRDMA".
void read_connection(const std::string& message, Log& log) {
  const std::size_t via = message.find(" via ");
  const std::size_t colon = message.find(" : ");
  if (via == std::string::npos || colon == std::string::npos) return;
  Connection connection;
  connection.channel = std::stoi(message.substr(8));
  connection.from = std::stoi(message.substr(colon + 3));
  connection.to = std::stoi(message.substr(message.find("-> ") + 3));
  connection.medium = message.substr(via + 5);
  const std::size_t way = message.find("] [");
  if (way != std::string::npos) connection.way = message.substr(way + 3, via - way - 4);
  log.connections.push_back(connection);
}

void read_message(const std::string& message, Log& log) {
  int channel = 0;
  Ring ring;
  Tree tree;
  int rank = 0;
  if (std::sscanf(message.c_str(), "Ring %d : %d -> %d -> %d", &channel, &ring.previous, &ring.rank,
                  &ring.next) == 4) {
    log.rings[channel].push_back(ring);
  } else if (std::sscanf(message.c_str(), "Tree %d : %d -> %d -> %d/%d/%d", &channel, &tree.up,
                         &tree.rank, &tree.down[0], &tree.down[1], &tree.down[2]) == 6) {
    log.trees[channel].push_back(tree);
  } else if (message.starts_with("Channel ")) {
    read_connection(message, log);
  }
  const std::size_t comm = message.find("comm 0x");
  if (comm == std::string::npos ||
      std::sscanf(message.c_str() + comm, "comm 0x%*x rank %d", &rank) != 1) {
    return;
  }
  if (message.ends_with("Init START")) log.started.insert(rank);
  if (message.ends_with("Init COMPLETE")) log.completed.insert(rank);
}

}  // namespace

Log read(const std::string& text) {
  Log log;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    const std::size_t info = line.find(" NCCL INFO ");
    const std::size_t warn = line.find(" NCCL WARN ");
    if (warn != std::string::npos) log.warnings.push_back(line.substr(warn + 11));
    if (info == std::string::npos) continue;
    log.lines.push_back(line.substr(info + 11));
    read_message(log.lines.back(), log);
  }
  return log;
}

LogRequest request(const std::string& preset, int nodes, const std::string& version) {
  LogRequest made;
  made.hosts = *load_hosts(preset, nodes, std::nullopt);
  made.version = *parse_nccl_version(version);
  made.shown = *parse_subsystems("ALL");
  return made;
}

std::string text_of(const LogRequest& request) {
  const auto job = LogJob::make(request);
  EXPECT_TRUE(job) << job.error().message;
  return job ? joined_log(*job) : std::string{};
}

Log log_of(const LogRequest& request) { return read(text_of(request)); }

}  // namespace ringside::said
