#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/translate.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// `AllReduce` of a line `AllReduce: opCount ..`
std::string_view function_of(std::string_view line) {
  constexpr std::string_view kInfo = "NCCL INFO ";
  const std::size_t at = line.find(kInfo);
  if (at == std::string_view::npos) return line;
  const std::size_t begin = at + kInfo.size();
  return line.substr(begin, line.find(':', begin) - begin);
}

/// Returns the word after ` count ` and the like.
std::string_view value_of(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + key.size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

/// Returns, such as `count 1000`, the argument in which a call differs from another call of its function.
std::string difference_of(std::string_view line, std::string_view other) {
  std::string words;
  for (const std::string_view key : {" count ", " datatype ", " op ", " root "}) {
    const std::string_view value = value_of(line, key);
    if (value == value_of(other, key)) continue;
    words += fmt::format("{}{}{}", words.empty() ? "" : ", ", key.substr(1), value);
  }
  return words;
}

std::string title_of(const JobFacts::Desync& desync) {
  const std::string_view mine = function_of(desync.text), theirs = function_of(desync.expected);
  const std::string call =
      fmt::format("call {} of rank {} is {}", desync.call + 1, desync.rank, mine);
  if (mine != theirs) return fmt::format("{}, of the others {}", call, theirs);
  const std::string difference = difference_of(desync.text, desync.expected);
  if (difference.empty()) return call + " with other arguments than the others'";
  return fmt::format("{} with {}, of the others with {}", call, difference,
                     difference_of(desync.expected, desync.text));
}

/// Returns whether the calls end soon after: a call that differs stops the job within a few calls, because the host
/// runs only so far ahead of the GPU. If the calls continue for long, lines are missing from a log.
bool ends_the_calls(const JobFacts& facts, const JobFacts::Desync& desync) {
  constexpr std::size_t kAhead = 16;
  if (facts.torn_lines > 0) return false;
  return std::any_of(facts.comms.begin(), facts.comms.end(), [&](const CommFacts& comm) {
    const Member* member = comm.member(desync.rank);
    const bool is_its =
        member != nullptr && member->process == desync.process && member->ncalls > desync.call;
    return is_its && !comm.is_guessed && member->ncalls <= desync.call + kAhead &&
           std::all_of(comm.members.begin(), comm.members.end(),
                       [&](const Member& other) { return other.ncalls <= desync.call + kAhead; });
  });
}

/// Reports what the libraries themselves log of ends of a connection that do not fit together.
void find_library_reports(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  Finding library;
  for (const MessageId id : {MessageId::IbCollectiveMismatch, MessageId::CollectiveMismatch,
                             MessageId::SocketMessageTruncated, MessageId::IbReceiveInfo}) {
    if (messages.has(id)) findings.quote(library, messages[id]);
  }
  // `op.preamble.length <= op.nbytes. 16 vs 4`: the received message is longer than expected.
  library.evidence.mix(evidence_of(
      messages[MessageId::GlooPairError],
      [](const KeptMessage& message) { return contains(message.text(), "preamble."); }));
  if (library.evidence.empty()) return;
  Finding& finding = findings.add("mismatched_collective", Severity::Error,
                                  "the two ends of a connection expect different sizes", library);
  for (const KeptMessage& message : messages[MessageId::CollectiveMismatch].kept) {
    if (message.argument("theirs").empty()) continue;
    // ringside's own engine names the rank that differs, and the difference.
    finding.title = message.text().substr(0, message.text().find(';'));
    finding.ranks = {static_cast<int>(message.number("rank")),
                     static_cast<int>(message.number("other"))};
    break;
  }
  finding.cause =
      "ranks call collectives in another order or with other sizes, or NCCL_ALGO, NCCL_PROTO or "
      "the version differ";
  finding.fix =
      "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL on all ranks, and audit again: the first differing "
      "call is named";
}

/// Reports calls that differ between the COLL lines of ranks.
void find_different_calls(const JobFacts& facts, Findings& findings) {
  if (facts.desyncs.empty()) return;
  const JobFacts::Desync& first = facts.desyncs.front();
  const bool is_stuck = facts.messages.has(MessageId::WatchdogTimeout) || !facts.results.empty();
  const bool is_last = ends_the_calls(facts, first);
  const bool is_shape = function_of(first.text) == function_of(first.expected);
  Finding& finding = findings.add(is_shape ? "hang_shape_mismatch" : "hang_op_mismatch",
                                  is_stuck  ? Severity::Error
                                  : is_last ? Severity::Warning
                                            : Severity::Info,
                                  title_of(first));
  for (const JobFacts::Desync& desync : facts.desyncs) {
    finding.evidence.add(desync.quoted);
    finding.ranks.push_back(desync.rank);
  }
  finding.confidence = is_stuck ? Confidence::High : is_last ? Confidence::Medium : Confidence::Low;
  finding.cause = "the ranks took different paths through the program, or have different data";
  finding.fix = "look at what that rank does differently before this call";
}

/// Reports different numbers of operations by ncclras.
void find_ras_mismatches(const JobFacts& facts, Findings& findings) {
  Finding ras;
  for (const RasFact& fact : facts.ras) {
    if (!fact.is_rank && contains(fact.errors, "MISMATCH")) ras.evidence.add(fact.quoted);
  }
  const Evidence problems =
      evidence_of(facts.messages[MessageId::RasCommProblem],
                  [](const KeptMessage& message) { return contains(message.text(), "MISMATCH"); });
  ras.evidence.mix(problems);
  if (ras.evidence.empty()) return;
  Finding& finding = findings.add("hang_op_mismatch", Severity::Warning,
                                  "ranks have launched different numbers of operations", ras);
  finding.reference = "docs/formats 7.1";
  finding.evidence.mix(facts.messages[MessageId::RasCounts].evidence);
  finding.confidence = Confidence::Low;
  finding.cause =
      "those that are behind never launched; the ranks that the report lists may be the ones "
      "ahead. In a job that moves this is normal";
  finding.fix = "ncclras -v three times, ten seconds apart: stuck only if the counts stay";
}

}  // namespace

void look_for_mismatches(const JobFacts& facts, Findings& findings) {
  find_library_reports(facts, findings);
  constexpr std::array kReports = {MessageId::FingerprintMismatch,
                                   MessageId::FlightRecorderMismatch};
  translate_hang({kReports}, HangsOf::Any, facts, findings);
  find_different_calls(facts, findings);
  if (!findings.has("hang_shape_mismatch") && !findings.has("hang_op_mismatch"))
    translate_hang({kWatchdogLines}, HangsOf::Mismatch, facts, findings);
  find_ras_mismatches(facts, findings);
}

}  // namespace ringside::audit
