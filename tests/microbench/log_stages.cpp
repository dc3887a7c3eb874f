// Measures the stages of an audit: each stage with all stages before it, in one thread, from the page cache.
//
//     build/dev/tests/microbench/ringside_log_stages job.log [rounds [stage]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diag/audit/audit.h"
#include "diag/audit/join.h"
#include "diag/audit/shard.h"
#include "diag/logparse/blocks.h"
#include "diag/logparse/log_files.h"
#include "diag/logparse/newlines.h"

namespace ringside {
namespace {

/// Keeps the compiler from omitting the work before a stage, which is the same for every stage.
volatile std::uint64_t kept = 0;

void read_file(const std::string& path, const std::function<void(const char*, std::size_t)>& take) {
  const auto source = logs::open_source(path, 0);
  if (!source) std::exit(3);
  const auto blocks = (*source)->blocks();
  for (std::span<const char> block; !(block = blocks->next(0)).empty();) {
    take(block.data(), block.size());
  }
}

class NullSink : public logs::RecordSink {
 public:
  void take(std::span<const logs::Record> records,
            const logs::SpeakerTable& /*speakers*/) override {
    kept = kept + records.size();
  }
};

void parse(const logs::LogFiles& files, logs::RecordSink& sink) {
  logs::RecordSink* const sinks[] = {&sink};
  if (!logs::parse_logs(files, sinks, {})) std::exit(3);
}

std::vector<std::unique_ptr<audit::Shard>> fold(const logs::LogFiles& files) {
  std::vector<std::unique_ptr<audit::Shard>> shards;
  shards.push_back(std::make_unique<audit::Shard>());
  parse(files, *shards.front());
  return shards;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(const std::string& path, int rounds, const std::string& only) {
  const logs::LogFiles files = logs::find_logs({path});
  if (files.files.size() != 1) {
    fmt::print(stderr, "error: '{}' is not one file\nhelp: name a log\n", path);
    return 2;
  }
  std::uint64_t lines = 0;
  std::vector<std::uint32_t> ends(logs::Blocks::kMost);
  const auto count = [&](const char* data, std::size_t size) {
    bool is_odd = false;
    lines += logs::find_line_ends(data, size, ends.data(), is_odd);
  };
  read_file(path, count);
  const std::uint64_t all = lines;
  struct Stage {
    const char* name;
    std::function<void()> work;
  };
  const std::vector<Stage> stages = {
      {"read",
       [&] {
         read_file(path, [](const char* data, std::size_t size) {
           for (std::size_t at = 0; at < size; at += 64) {  // a cache line
             kept = kept + static_cast<unsigned char>(data[at]);
           }
         });
       }},
      {"line ends", [&] { read_file(path, count); }},
      {"records",
       [&] {
         NullSink sink;
         parse(files, sink);
       }},
      {"facts of a shard", [&] { kept = kept + fold(files).front()->parts.size(); }},
      {"facts of the job", [&] { kept = kept + audit::join_shards(fold(files)).comms.size(); }},
      {"findings", [&] { kept = kept + audit::judge(audit::join_shards(fold(files))).size(); }},
  };
  const auto bytes = static_cast<double>(files.total().value);
  double before = 0;
  fmt::print("{:<18}{:>10}{:>12}{:>12}\n", "up to", "GB/s", "ns a line", "of it");
  for (const Stage& stage : stages) {
    if (!only.empty() && only != stage.name) continue;
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) times.push_back(seconds_of(stage.work));
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    const double ns = median * 1e9 / static_cast<double>(all);
    fmt::print("{:<18}{:>10.2f}{:>12.1f}{:>12.1f}\n", stage.name, bytes / median / 1e9, ns,
               ns - before);
    before = ns;
  }
  return 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} LOG [rounds [stage]]\n", argv[0]);
    return 2;
  }
  return ringside::run(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 5,
                       argc > 3 ? argv[3] : "");
}
