#include "diag/audit/rules/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "diag/hangdetect/verdict/verdict.h"
#include "diag/job/line_rank.h"
#include "diag/job/occupation.h"
#include "diag/logparse/torch_lines.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// The rule that handles a kind of hang, and its advice if hangdetect's next step is not sufficient.
struct KindRow {
  hang::Kind kind;
  HangsOf of = HangsOf::Path;
  std::string_view fix = {};
};

constexpr KindRow kKinds[] = {
    {hang::Kind::MissingRank},
    {hang::Kind::DivergedControlFlow},
    {hang::Kind::DeadRank},
    {hang::Kind::Straggler},
    {hang::Kind::NetworkStall, HangsOf::Path,
     "the fabric's settings (on Slingshot FI_CXI_*, on RoCE PFC and GID); ib_write_bw "
     "between the hosts; on one host NCCL_P2P_DISABLE=1 to confirm that peer-to-peer is "
     "at fault, and dmesg"},
    {hang::Kind::OrderMismatch, HangsOf::Mismatch},
    {hang::Kind::OpMismatch, HangsOf::Mismatch,
     "make every branch around a collective the same on all ranks"},
    {hang::Kind::ShapeMismatch, HangsOf::Mismatch,
     "make the shapes equal on all ranks: uneven data sets need padding, a sampler or join()"},
    {hang::Kind::DtypeMismatch, HangsOf::Mismatch, "make the types equal on all ranks"},
    {hang::Kind::RootMismatch, HangsOf::Mismatch},
};

const KindRow* row_of(hang::Kind kind) {
  const auto row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                [&](const KindRow& one) { return one.kind == kind; });
  return row == std::end(kKinds) ? nullptr : &*row;
}

std::string cause_of(const hang::Explanation& one) {
  std::string cause = hang::why_of(one);
  for (const std::string& detail : hang::details_of(one)) cause += "; " + detail;
  return cause;
}

/// Returns lines of these messages that the ranks themselves wrote, except those that are already quoted.
Evidence said_by(const std::vector<int>& ranks, std::span<const MessageId> ids,
                 const JobFacts& facts, const Evidence& quoted) {
  const auto is_quoted = [&](const KeptMessage& message) {
    return std::any_of(quoted.lines().begin(), quoted.lines().end(),
                       [&](const QuotedLine& line) { return line.place == message.place(); });
  };
  Evidence evidence;
  for (const MessageId id : ids) {
    for (const KeptMessage& message : facts.messages[id].kept) {
      if (is_quoted(message)) continue;
      if (std::find(ranks.begin(), ranks.end(), rank_of(facts, message)) != ranks.end())
        evidence.add(message.quoted());
    }
  }
  return evidence;
}

/// Returns whether the explanation is based on what a program was busy with.
bool is_occupation(const HangView& view, const hang::Explanation& one) {
  const std::vector<SeenLine> lines = view.quoted_by(one);
  return std::any_of(lines.begin(), lines.end(), [](const SeenLine& line) {
    return line.source == SeenLine::Source::Program &&
           job::occupation_in(line.text).what != job::Occupation::What::None;
  });
}

/// Returns whether a rank did not arrive because its program ended, by its own exception or by closing its group.
bool is_own_end(const HangView& view, const hang::Explanation& one) {
  const std::vector<SeenLine> lines = view.quoted_by(one);
  return std::any_of(lines.begin(), lines.end(), [](const SeenLine& line) {
    if (line.message != nullptr) return is_message(line.message->record(), MessageId::GroupClosed);
    return line.source == SeenLine::Source::Program &&
           job::occupation_in(line.text).what == job::Occupation::What::None;
  });
}

}  // namespace

std::int32_t global_rank_of(const JobFacts& facts, const KeptMessage& message) {
  const TorchPrefix prefix = torch_prefix(message.record());
  if (prefix.global_rank >= 0) return prefix.global_rank;
  return facts.processes[message.process()].launcher_rank;
}

std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message) {
  const std::int32_t global = global_rank_of(facts, message);
  if (global >= 0) return global;
  const TorchPrefix prefix = torch_prefix(message.record());
  return prefix.group_rank >= 0 ? prefix.group_rank : job::rank_in_text(message.line());
}

// From 0.8 on, the evidence is complete for its kind of hang.
Confidence confidence_of(double confidence) {
  constexpr double kComplete = 0.8, kOneSided = 0.5;
  return confidence >= kComplete   ? Confidence::High
         : confidence >= kOneSided ? Confidence::Medium
                                   : Confidence::Low;
}

std::string title_of(const std::string& why) { return why.substr(0, why.find(". ")); }

bool translate_hang(const LinesOf& lines, HangsOf which, const JobFacts& facts,
                    Findings& findings) {
  const bool has_any = facts.messages.has_any(lines.messages);
  if (!has_any && !(lines.program && !facts.python_errors.empty())) return false;
  bool is_reported = false;
  std::vector<const KindRow*> reported;
  const HangView& view = findings.hang();
  for (const hang::Explanation* one : view.resting_on(lines)) {
    const bool has_failed = one->kind == hang::Kind::MissingRank && is_own_end(view, *one);
    const KindRow* row = row_of(has_failed ? hang::Kind::DeadRank : one->kind);
    const bool is_new = std::find(reported.begin(), reported.end(), row) == reported.end();
    if (row == nullptr || one->confidence < kReportable || !is_new) continue;
    const bool is_end = row->kind == hang::Kind::DeadRank;
    const bool is_asked =
        which == HangsOf::Any || row->of == which || (which == HangsOf::End && is_end);
    if (!is_asked) continue;
    reported.push_back(row);
    is_reported = true;
    // A hung collective within a host is caused by a GPU or a driver, and often ends by itself.
    const bool is_within_host = one->kind == hang::Kind::NetworkStall && facts.world() != nullptr &&
                                facts.world()->nodes() == 1;
    Finding& finding =
        findings.add(fmt::format("hang_{}", to_string(row->kind)),
                     is_within_host ? Severity::Warning : Severity::Error,
                     title_of(hang::why_of(*one)), view.evidence_of(*one, {lines.messages}));
    if (is_occupation(view, *one))
      finding.evidence.mix(facts.plain_of(PlainLine::Occupied).evidence);
    finding.evidence.mix(said_by(one->culprits, lines.messages, facts, finding.evidence));
    finding.ranks.assign(one->culprits.begin(), one->culprits.end());
    finding.confidence = confidence_of(one->confidence);
    finding.cause = cause_of(*one);
    finding.fix = row->fix;
    if (const auto missing = hang::missing_of(*one); finding.fix.empty() && !missing.empty())
      finding.fix = missing.front();
  }
  return is_reported;
}

}  // namespace ringside::audit
