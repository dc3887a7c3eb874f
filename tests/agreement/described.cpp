#include "tests/agreement/described.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "engine/topology/sources/load_hosts.h"

namespace ringside::oracle {
namespace {

const std::string kFolder = RINGSIDE_AGREEMENT_FOLDER;

/// The golden nodes that a preset describes; nodes/ has those of the others that a host's YAML can express.
const std::map<std::string, std::string>& presets() {
  static const std::map<std::string, std::string> kAll{{"a10-4-dualsocket", "4x-a10"},
                                                       {"aws-g5-48xl", "aws-g5-48xl"},
                                                       {"aws-p4d", "aws-p4d"},
                                                       {"aws-p5-ofi8", "aws-p5"},
                                                       {"azure-ndv4", "azure-ndv4"},
                                                       {"azure-ndv5", "azure-ndv5"},
                                                       {"dgx-1v", "dgx-1v"},
                                                       {"dgx-a100", "dgx-a100"},
                                                       {"dgx-b200", "dgx-b200"},
                                                       {"dgx-h100", "dgx-h100"},
                                                       {"dgx-spark", "dgx-spark"},
                                                       {"dgx-station-a100", "dgx-station-a100"},
                                                       {"gb200-nvl72", "gb200-nvl72"},
                                                       {"gb300-2tray", "gb300-nvl72"},
                                                       {"gh200-1gpu", "gh200"},
                                                       {"gpu1-25g", "one-gpu-one-nic"},
                                                       {"l4-2", "2x-l4"},
                                                       {"perlmutter-a100", "perlmutter-a100"}};
  return kAll;
}

std::string nodes_file(const std::string& name) { return kFolder + "/nodes/" + name + ".yaml"; }

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(by, begin)) != std::string::npos; begin = end + by.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// Returns e.g. "dgx-h100:2 domain=2 collnet".
std::string question_of(const DescribedJob& job) {
  std::string text = job.on;
  if (job.hosts_per_domain != 1) text += fmt::format(" domain={}", job.hosts_per_domain);
  if (job.collnet) text += " collnet";
  return text;
}

DescribedJob parse_line(const std::string& line) {
  const std::vector<std::string> columns = split(line, " | ");
  if (columns.size() != 4) throw std::runtime_error("digests.txt: not four columns: " + line);
  DescribedJob job{.name = columns[0], .summary = columns[2]};
  std::istringstream question{columns[1]};
  question >> job.on;
  for (std::string word; question >> word;) {
    if (word == "collnet") job.collnet = true;
    if (word.starts_with("domain=")) job.hosts_per_domain = std::stoi(word.substr(7));
  }
  const std::vector<std::string> digests = split(columns[3], " ");
  if (digests.size() != job.nccl.size()) throw std::runtime_error("digests.txt: " + line);
  for (std::size_t i = 0; i < digests.size(); ++i) job.nccl[i] = parse_digest(digests[i]);
  return job;
}

/// Returns, in words, the row of a collective for a size.
std::string choice_of(const Json& choices, std::uint64_t bytes) {
  for (const Json& row : choices.at("AllReduce")) {
    if (row.at("bytes") != bytes) continue;
    return fmt::format("{}/{} {:.4g} us", row.at("algo").get<std::string>(),
                       row.at("proto").get<std::string>(), row.at("timeUs").get<double>());
  }
  return "none";
}

std::string summary_of(const Json& golden) {
  const Json counts = golden_part(golden, Part::Counts);
  const Json choices = golden_part(golden, Part::Choices);
  return fmt::format("{} ranks, {} nodes, {} channels; AllReduce of 1 MiB {}, 1 GiB {}",
                     counts.at("nRanks").get<int>(), counts.at("nNodes").get<int>(),
                     counts.at("nChannels").get<int>(), choice_of(choices, 1 << 20),
                     choice_of(choices, 1 << 30));
}

}  // namespace

std::vector<DescribedJob> described_jobs() {
  std::ifstream file{kFolder + "/digests.txt"};
  std::vector<DescribedJob> jobs;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) jobs.push_back(parse_line(line));
  }
  return jobs;
}

std::string to_text(const DescribedJob& job) {
  std::string line = fmt::format("{} | {} | {} |", job.name, question_of(job), job.summary);
  for (const Digest& digest : job.nccl) line += " " + to_text(digest);
  return line;
}

std::optional<DescribedJob> describe(const std::string& name, const Json& golden) {
  DescribedJob job{.name = name, .summary = summary_of(golden)};
  job.collnet = golden.at("collnetEnabled").get<int>() != 0;
  std::vector<std::pair<std::string, int>> runs;
  for (const Json& run : golden.at("hosts")) {
    const std::string node = std::filesystem::path(run.at("xml").get<std::string>()).stem();
    const auto preset = presets().find(node);
    if (preset == presets().end() && !std::filesystem::exists(nodes_file(node)))
      return std::nullopt;
    const std::string source = preset == presets().end() ? node : preset->second;
    const int count = run.at("count").get<int>();
    if (run.at("nvlDomain").get<int>() != 0) job.hosts_per_domain = count;
    if (runs.empty() || runs.back().first != source) runs.emplace_back(source, 0);
    runs.back().second += count;
  }
  for (const auto& [source, count] : runs) {
    job.on += fmt::format("{}{}:{}", job.on.empty() ? "" : ",", source, count);
  }
  for (const Part part : kParts) {
    job.nccl[static_cast<std::size_t>(part)] = digest_of(without_guids(golden_part(golden, part)));
  }
  return job;
}

Job solve(const DescribedJob& asked) {
  JobHosts hosts{.hosts_per_nvl_domain = asked.hosts_per_domain};
  for (const std::string& run : split(asked.on, ",")) {
    const std::size_t colon = run.find(':');
    const std::string source = run.substr(0, colon);
    const bool is_ours = std::filesystem::exists(nodes_file(source));
    // Loads one host of it, whichever domain it usually is part of.
    const auto loaded = load_hosts(is_ours ? nodes_file(source) : source, 1, 1);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    hosts.runs.push_back(
        {.host = loaded->runs.front().host, .count = std::stoi(run.substr(colon + 1))});
  }
  ChannelParameters channels;
  channels.collnet_enable = asked.collnet;
  Result<Job> job = make_job(hosts, {}, channels);
  if (!job) throw std::runtime_error(job.error().message);
  return *std::move(job);
}

Json without_guids(Json part) {
  if (!part.is_array()) return part;
  for (Json& system : part) {
    if (!system.contains("nics")) continue;
    for (Json& nic : system["nics"]) nic.erase("guid");
  }
  return part;
}

}  // namespace ringside::oracle
