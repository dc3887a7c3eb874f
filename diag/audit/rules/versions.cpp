#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// The releases of NCCL that processes loaded.
struct LoadedReleases {
  std::vector<std::string> texts = {};        ///< as the banners write them
  std::map<std::uint32_t, int> code_of = {};  ///< by process; one of them if it loaded several
  Evidence evidence = {};
  bool has_process_with_two = false;
};

/// Returns the releases if there are several; otherwise nothing. Considers the library's version only, not the version
/// that a benchmark was compiled with or that PyTorch assumes.
LoadedReleases loaded_releases(const JobFacts& facts) {
  std::map<int, std::vector<std::string>> texts_of_code;
  for (const auto& [text, version] : facts.version_facts) {
    if (version.is_of_benchmark || version.is_of_text || version.is_rccl || version.code == 0)
      continue;
    texts_of_code[version.code].push_back(text);
  }
  LoadedReleases loaded;
  if (texts_of_code.size() < 2) return loaded;
  for (const auto& [code, texts] : texts_of_code) {
    for (const std::string& text : texts) {
      loaded.texts.push_back(text);
      const auto said = facts.versions.find(text);
      if (said == facts.versions.end()) continue;
      loaded.evidence.mix(said->second.evidence);
      for (const std::uint32_t process : said->second.processes) {
        if (process == 0) continue;
        const auto [at, is_new] = loaded.code_of.emplace(process, code);
        if (!is_new && at->second != code) loaded.has_process_with_two = true;
      }
    }
  }
  return loaded;
}

/// Returns whether a communicator has processes of several releases.
bool is_any_comm_mixed(const JobFacts& facts, const LoadedReleases& loaded) {
  return std::ranges::any_of(facts.comms, [&](const CommFacts& comm) {
    std::set<int> codes;
    for (const Member& member : comm.members) {
      const auto found = loaded.code_of.find(member.process);
      if (found != loaded.code_of.end()) codes.insert(found->second);
    }
    return codes.size() > 1;
  });
}

/// Returns whether there are several hosts, each with one release of its own.
bool are_hosts_apart(const JobFacts& facts, const LoadedReleases& loaded) {
  std::map<std::int32_t, int> code_of_host;
  for (const auto& [process, code] : loaded.code_of) {
    const std::int32_t host = facts.processes[process].host;
    if (host < 0) continue;
    const auto [at, is_new] = code_of_host.emplace(host, code);
    if (!is_new && at->second != code) return false;
  }
  return code_of_host.size() > 1;
}

}  // namespace

void look_for_versions(const JobFacts& facts, Findings& findings) {
  Finding draft;
  for (const MessageId id : {MessageId::VersionMismatch, MessageId::RasVersionMismatch}) {
    if (facts.messages.has(id)) findings.quote(draft, facts.messages[id]);
  }
  const bool is_reported = !draft.evidence.empty();
  const LoadedReleases loaded = loaded_releases(facts);
  draft.evidence.mix(loaded.evidence);
  if (draft.evidence.empty()) return;
  // Banners may be of several runs in one file: only a communicator or a failure proves that versions are mixed. Hosts
  // with one release each, which never connect in these lines, may be of separate jobs.
  const bool is_proved = is_reported || is_any_comm_mixed(facts, loaded) || !facts.results.empty();
  const bool is_likely = loaded.has_process_with_two || are_hosts_apart(facts, loaded);
  Finding& finding = findings.add(
      "version_mismatch",
      is_proved   ? Severity::Error
      : is_likely ? Severity::Warning
                  : Severity::Info,
      loaded.texts.empty()
          ? std::string("ranks load different versions of NCCL")
          : fmt::format("one job, several versions of NCCL: {}", list_of(loaded.texts)),
      draft);
  finding.cause = loaded.has_process_with_two ? "one process loads two libraries of NCCL"
                                              : "images or library paths differ between hosts";
  finding.fix =
      "python -c 'import torch; print(torch.cuda.nccl.version())' on every host; one image for all";
}

}  // namespace ringside::audit
