#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "diag/audit/gpu_names.h"
#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A release such as `2.21.5+cuda12.4` or `1.7.4-aws` as numbers that can be compared.
struct Release {
  std::array<int, 3> parts = {};
  std::string text;

  [[nodiscard]] bool is_known() const { return parts[0] > 0; }
  [[nodiscard]] bool is_before(const Release& other) const { return parts < other.parts; }
};

Release release_in(std::string_view text) {
  Release release;
  std::size_t at = 0;
  for (int& part : release.parts) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (end == at) break;
    part = std::atoi(std::string(text.substr(at, end - at)).c_str());
    release.text = text.substr(0, end);
    if (end >= text.size() || text[end] != '.') break;
    at = end + 1;
  }
  return release;
}

/// Returns the lowest NCCL release that the text names: that of the library, or else that of a package.
Release nccl_release(const JobFacts& facts) {
  Release lowest;
  const auto take = [&](std::string_view text) {
    const Release one = release_in(text);
    if (one.is_known() && (!lowest.is_known() || one.is_before(lowest))) lowest = one;
  };
  for (const auto& [text, version] : facts.version_facts) {
    if (!version.is_rccl && !version.is_of_benchmark) take(text);
  }
  if (lowest.is_known()) return lowest;
  for (const CapabilityFact& fact : facts.capabilities) {
    if (fact.what == CapabilityFact::What::Package)
      take(std::string_view(fact.value).substr(fact.value.find(' ') + 1));
  }
  return lowest;
}

Release release_of_component(const JobFacts& facts, std::string_view component) {
  if (component == "nccl") return nccl_release(facts);
  for (const KeptMessage& message : facts.messages[MessageId::OfiVersion].kept) {
    const std::string_view version =
        message.argument(component == "libfabric" ? "libfabric" : "version");
    if (const Release one = release_in(version); one.is_known()) return one;
  }
  return {};
}

struct GpuSince {
  std::string_view words, name, release, source;
};
constexpr GpuSince kGpus[] = {
#define RINGSIDE_GPU_SINCE(words, name, release, source) {words, name, release, source},
#include "diag/audit/releases.def"
};

struct FaultRow {
  PlainLine line;
  std::string_view component, from, fixed, fix;
};
constexpr FaultRow kFaults[] = {
#define RINGSIDE_KNOWN_FAULT(line, component, from, fixed, fix, source) \
  {PlainLine::line, component, from, fixed, fix},
#include "diag/audit/releases.def"
};

std::string name_of(std::string_view component) {
  return component == "nccl" ? "NCCL" : std::string(component);
}

}  // namespace

KnownFault known_fault(const JobFacts& facts, PlainLine line) {
  for (const FaultRow& row : kFaults) {
    if (row.line != line) continue;
    const Release used = release_of_component(facts, row.component);
    const Release fixed = release_in(row.fixed);
    const bool is_affected = used.is_known() && !used.is_before(release_in(row.from)) &&
                             (!fixed.is_known() || used.is_before(fixed));
    if (!is_affected) continue;
    KnownFault fault;
    fault.title = fmt::format("a known fault of {} {}", name_of(row.component), used.text);
    fault.fix = row.fix;
    if (fixed.is_known()) {
      fault.title += fmt::format(", fixed in {}", fixed.text);
      fault.fix = fmt::format("update {} to {} or newer{}{}", name_of(row.component), fixed.text,
                              row.fix.empty() ? "" : ": ", row.fix);
    }
    return fault;
  }
  return {};
}

/// Reports a GPU that is newer than the NCCL release in use: kernels are missing, or the machine's links are not
/// recognised.
void look_for_old_releases(const JobFacts& facts, Findings& findings) {
  const Release used = nccl_release(facts);
  if (!used.is_known()) return;
  for (const GpuSince& gpu : kGpus) {
    if (!facts.has_text_of_gpu(gpu.words) || !used.is_before(release_in(gpu.release))) continue;
    const std::string title = fmt::format("NCCL {} is too old for {}: it is known from {} on",
                                          used.text, gpu.name, gpu.release);
    const std::string fix = fmt::format(
        "install NCCL {} or newer (pip install -U nvidia-nccl-cu12), or a PyTorch that comes with "
        "it; python -c 'import torch; print(torch.cuda.nccl.version())' shows which one is loaded",
        gpu.release);
    // The line that failed because of it is more precise.
    const auto known =
        std::find_if(findings.all().begin(), findings.all().end(),
                     [](const Finding& one) { return one.id == "gpu_arch_unsupported"; });
    if (known != findings.all().end()) {
      known->title += "; " + title;
      known->fix = fix + "; " + known->fix;
      return;
    }
    Finding& finding = findings.add(
        "gpu_arch_unsupported", facts.has_failure() ? Severity::Error : Severity::Warning, title);
    for (const auto& [text, said] : facts.versions) {
      if (release_in(text).parts == used.parts) findings.quote(finding, said);
    }
    for (const KeptLine& line : facts.plain_of(PlainLine::GpuName).kept) {
      if (names_gpu(line.quoted.text, gpu.words)) finding.evidence.add(line.quoted);
    }
    if (!finding.evidence.empty() && facts.messages.has(MessageId::LastError))
      finding.evidence.mix(facts.messages[MessageId::LastError].evidence);
    finding.confidence = Confidence::Medium;
    finding.cause =
        "this release has no kernels for the GPU, or does not understand how its links are laid";
    finding.fix = fix;
    finding.reference = gpu.source;
    return;
  }
}

}  // namespace ringside::audit
