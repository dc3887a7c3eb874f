#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"

namespace ringside::said {

/// The contents of a log of one communicator, read back line by line with only sscanf.
struct Ring {
  int previous = -1, rank = -1, next = -1;
};
struct Tree {
  int up = -1, rank = -1;
  std::array<int, 3> down{-1, -1, -1};
};
struct Connection {
  int channel = 0, from = 0, to = 0;
  std::string medium = {};  ///< "P2P/IPC", "NET/IB/0/GDRDMA"
  std::string way = {};     ///< "send", "receive" or nothing
  friend auto operator<=>(const Connection&, const Connection&) = default;
};
struct Log {
  std::map<int, std::vector<Ring>> rings;  ///< by channel
  std::map<int, std::vector<Tree>> trees;
  std::vector<Connection> connections;
  std::vector<std::string> warnings;
  std::set<int> started, completed;  ///< ranks
  std::vector<std::string> lines;    ///< messages, without prefix
};
Log read(const std::string& text);

/// Returns a request for the whole log of a job.
LogRequest request(const std::string& preset, int nodes, const std::string& version);
Log log_of(const LogRequest& request);
std::string text_of(const LogRequest& request);

}  // namespace ringside::said
