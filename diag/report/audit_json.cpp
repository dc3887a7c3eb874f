#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "diag/audit/finding_types.h"
#include "diag/audit/summary.h"
#include "diag/report/audit_report.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Limits the numbers in lists of rings and trees: 16,384 ranks on 32 channels are too long to read. Lists beyond it are
/// null.
constexpr std::size_t kMostNumbers = 200'000;

Json evidence_json(const Audit& audit, const Evidence& evidence) {
  Json lines = Json::array();
  for (const QuotedLine& line : evidence.lines()) {
    const FileLine at = audit.where(line.place);
    const std::string file =
        at.file < audit.files.files.size() ? audit.files.files[at.file].name : "?";
    lines.push_back({{"file", file}, {"line", at.line}, {"text", line.text}});
  }
  return lines;
}

Json finding_json(const Audit& audit, const Finding& finding) {
  const FindingType* type = finding_type(finding.id);
  Json json{{"id", finding.id},
            {"severity", to_string(finding.severity)},
            {"title", finding.title},
            {"evidence", evidence_json(audit, finding.evidence)},
            {"evidence_count", finding.evidence.count()},
            {"ranks", finding.ranks},
            {"hosts", finding.hosts},
            {"cause", finding.cause},
            {"fix", finding.fix},
            {"unseen", finding.unseen},
            {"cost", nullptr},
            {"confidence", to_string(finding.confidence)},
            {"reference", finding.reference},
            {"family", type == nullptr ? std::string_view() : type->family},
            {"effect", type == nullptr ? "" : to_string(type->effect)},
            {"about", "docs/findings/" + finding.id + ".md"},
            {"caused_by", nullptr}};
  if (finding.cost) {
    json["cost"] = {{"text", finding.cost->text},
                    {"actual_busbw_gbs", finding.cost->actual_gbs},
                    {"expected_busbw_gbs", finding.cost->expected_gbs}};
  }
  if (finding.caused_by) json["caused_by"] = *finding.caused_by;
  return json;
}

std::string ranks_text(const CommFacts& comm) {
  std::vector<int> ranks;
  for (const Member& member : comm.members) {
    if (ranks.empty() || ranks.back() != member.rank) ranks.push_back(member.rank);
  }
  return format_ranks(ranks);
}

Json comm_json(const JobFacts& facts, const CommFacts& comm) {
  Json json{{"comm_id", comm.comm_id == 0 ? Json(nullptr) : Json(comm.comm_id)},
            {"nranks", comm.nranks},
            {"nnodes", comm.nodes()},
            {"ranks_seen", ranks_text(comm)},
            {"joined_by", comm.is_guessed ? "size and order" : "id"},
            {"channels", comm.ring_channels},
            {"nvls_channels", comm.nvls_channels},
            {"p2p_channels", comm.p2p_channels}};
  Json transports = Json::object();
  for (const auto& [name, count] : transports_of(facts, comm)) transports[name] = count;
  json["transports"] = std::move(transports);

  std::size_t room = kMostNumbers;
  Json rings = Json::array();
  Json crossings = Json::array();
  for (const Ring& ring : comm.rings) {
    crossings.push_back(ring.crossings < 0 ? Json(nullptr) : Json(ring.crossings));
    const bool fits = ring.ranks.size() <= room;
    if (fits) room -= ring.ranks.size();
    rings.push_back(fits && ring.source != RingSource::None ? Json(ring.ranks) : Json(nullptr));
  }
  json["rings"] = std::move(rings);
  json["ring_crossings"] = std::move(crossings);
  Json trees = Json::array();
  const auto nranks = static_cast<std::size_t>(std::max(comm.nranks, 0));
  for (const auto& tree : comm.trees) {
    const bool fits = nranks <= room;
    if (fits) {
      room -= nranks;
      constexpr std::int32_t kUnknown = -2;
      std::vector<std::int32_t> parents(nranks, kUnknown);
      for (const auto& [rank, parent] : tree) parents[static_cast<std::size_t>(rank)] = parent;
      trees.push_back(parents);
    } else {
      trees.push_back(nullptr);
    }
  }
  json["tree_parents"] = std::move(trees);

  Json nics = Json::object();
  std::size_t complete = 0;
  float slowest = -1;
  for (const Member& member : comm.members) {
    if (member.is_complete) ++complete;
    slowest = std::max(slowest, member.init_s);
  }
  std::map<std::string, std::set<int>> ranks_of_nic;
  for (const Link& link : comm.links) {
    if (link.via != Via::Net) continue;
    ranks_of_nic[facts.nets[link.net] + "/" + std::to_string(link.net_device)].insert(
        link.proxy >= 0 ? link.proxy : link.rank);
  }
  for (const auto& [nic, ranks] : ranks_of_nic)
    nics[nic] = format_ranks(std::vector<int>(ranks.begin(), ranks.end()));
  json["nics"] = std::move(nics);
  json["ranks_complete"] = complete;
  json["slowest_init_s"] = slowest < 0 ? Json(nullptr) : Json(slowest);
  return json;
}

Json table_json(const BenchmarkTable& table) {
  Json rows = Json::array();
  for (const BenchmarkLine& row : table.rows) {
    rows.push_back(
        {{"bytes", row.bytes},
         {"time_us", row.time_us},
         {"busbw_gbs", row.busbw_gbs},
         {"expected_busbw_gbs", row.expected_gbs < 0 ? Json(nullptr) : Json(row.expected_gbs)}});
  }
  return {{"collective", table.collective},
          {"nranks", table.devices.size()},
          {"gpu", table.devices.empty() ? std::string() : table.devices.front().gpu},
          {"average_busbw_gbs", table.average_gbs < 0 ? Json(nullptr) : Json(table.average_gbs)},
          {"expected_of", table.expected_of},
          {"rows", std::move(rows)}};
}

Json matrices_json(const JobFacts& facts) {
  Json all = Json::array();
  for (const LinkMatrix& matrix : facts.matrices) {
    Json rows = Json::object();
    for (const LinkMatrix::Row& row : matrix.rows) {
      Json cells = Json::array();
      for (const MatrixCell cell : row.cells) cells.push_back(to_string(cell));
      rows[matrix.columns[row.column]] = std::move(cells);
    }
    all.push_back({{"host", matrix.host.empty() ? Json(nullptr) : Json(matrix.host)},
                   {"devices", matrix.columns},
                   {"gpus", matrix.gpus},
                   {"links", std::move(rows)}});
  }
  return all;
}

}  // namespace

Json facts_json(const Audit& audit) {
  const JobFacts& facts = audit.facts;
  Json hosts = Json::array();
  for (const HostFacts& host : facts.hosts) {
    Json gpus = Json::array();
    for (const std::int64_t gpu : host.gpus) gpus.push_back(bus_text(gpu));
    Json devices = Json::object();
    for (const auto& [net, names] : host.devices) devices[net] = names;
    hosts.push_back({{"name", host.name},
                     {"processes", host.processes.size()},
                     {"gpus", std::move(gpus)},
                     {"devices", std::move(devices)}});
  }
  constexpr std::size_t kMostComms = 1'000;
  Json comms = Json::array();
  for (std::size_t i = 0; i < facts.comms.size() && i < kMostComms; ++i)
    comms.push_back(comm_json(facts, facts.comms[i]));
  Json versions = Json::array();
  for (const auto& [text, version] : facts.version_facts) versions.push_back(text);
  Json environment = Json::array();
  for (const Setting& setting : facts.environment) {
    environment.push_back({{"name", setting.name},
                           {"value", setting.value},
                           {"processes", setting.processes.size()}});
  }
  Json networks = Json::object();
  for (const auto& [name, said] : facts.networks) networks[name] = said.processes.size();
  Json transports = Json::object();
  for (const auto& [name, count] : transports_of(facts)) transports[name] = count;
  Json tables = Json::array();
  for (const BenchmarkTable& table : facts.tables) tables.push_back(table_json(table));
  return {{"nranks", facts.world() == nullptr ? Json(nullptr) : Json(facts.world()->nranks)},
          {"nnodes", facts.nodes()},
          {"versions", std::move(versions)},
          {"networks", std::move(networks)},
          {"transports", std::move(transports)},
          {"hosts", std::move(hosts)},
          {"ncommunicators", facts.comms.size()},
          {"communicators", std::move(comms)},
          {"environment", std::move(environment)},
          {"tables", std::move(tables)},
          {"link_matrices", matrices_json(audit.facts)}};
}

Json report_json(const Audit& audit) {
  Json findings = Json::array();
  for (const Finding& finding : audit.findings) findings.push_back(finding_json(audit, finding));
  Json problems = Json::array();
  for (const auto* list : {&audit.files.problems, &audit.parsed.problems}) {
    for (const InputProblem& problem : *list)
      problems.push_back({{"file", problem.file}, {"what", problem.what}, {"help", problem.help}});
  }
  const ParseCounts& counts = audit.parsed.counts;
  return {{"schema", "ringside.audit/1"},
          {"files", audit.files.files.size()},
          {"lines", counts.lines},
          {"bytes", counts.bytes},
          {"torn_lines", counts.torn},
          {"stack_lines", audit.facts.stack_lines + audit.facts.unread.lines.count()},
          {"unread_lines", audit.facts.unread.lines.count()},
          {"findings", std::move(findings)},
          {"facts", facts_json(audit)},
          {"problems", std::move(problems)}};
}

}  // namespace ringside::audit
