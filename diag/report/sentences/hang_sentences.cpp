#include "diag/report/sentences/hang_sentences.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/job/completion_meaning.h"
#include "diag/report/sentences/hang_words.h"

namespace ringside::hang {
namespace {

using F = Feature;
using facts::Reporter;

/// Removes the space at the end of a subject that no verb follows.
std::string trimmed_end(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

/// Returns the culprits as a subject: local ranks, and processes without a rank, are named as such.
std::string subject(const Explanation& one, std::string_view verb_one, std::string_view verb_many) {
  if (!one.culprits.empty()) {
    const std::string ranks =
        one.is_local_rank ? fmt::format("local {}", ranks_that(one.culprits, verb_one, verb_many))
                          : ranks_that(one.culprits, verb_one, verb_many);
    return trimmed_end(capital(ranks));
  }
  const std::string who = !one.where.empty()    ? one.where
                          : !one.places.empty() ? one.places.front().who
                                                : "";
  return trimmed_end(fmt::format("{} {}", who.empty() ? "A process" : capital(who), verb_one));
}

/// Returns a note that explains a local rank.
std::string local_note(const Explanation& one) {
  return one.is_local_rank && !one.culprits.empty()
             ? " It is the local rank, which is the global one if the job has one host."
             : "";
}

std::string signal_text(std::int64_t signal) {
  switch (signal) {
    case 9:
      return "signal 9 (SIGKILL: often the kernel, when host memory is full)";
    case 11:
      return "signal 11 (SIGSEGV: segmentation fault)";
    case 7:
      return "signal 7 (SIGBUS: often a full /dev/shm)";
    default:
      return fmt::format("signal {}", signal);
  }
}

std::string waiters(const Explanation& one) {
  return one.waiting.empty() ? ""
                             : fmt::format("; {} for it", ranks_that(one.waiting, "waits", "wait"));
}

std::string death_text(const Explanation& one) {
  std::string how;
  if (one.exit_code < 0) {
    how = subject(one, "was killed by", "were killed by") + " " + signal_text(-one.exit_code);
  } else if (one.exit_code > 0 || one.cause == facts::DeathCause::ExitCode) {
    how = subject(one, "ended", "ended") + fmt::format(" with exit status {}", one.exit_code);
  } else {
    how = subject(one, "ended before the others", "ended before the others");
  }
  if (!one.what.empty()) how += fmt::format(": {}", excerpt(one.what));
  how += in_call(one, "before");
  how += ".";
  if (one.culprits.empty()) how += " No line shows which rank that was.";
  return how + local_note(one);
}

std::string difference_text(const Explanation& one) {
  const std::string where = in_call(one, "at");
  if (one.culprits.empty()) {
    const std::string who = one.suspects.empty() ? "Ranks" : capital(ranks_text(one.suspects));
    return fmt::format("{} disagree{}, and neither side is a majority.", who, where);
  }
  const auto said = [&](std::string_view what) {
    return fmt::format("{} {}{}, not what {}.", capital(ranks_text(one.culprits)), what, where,
                       one.others.empty() ? "the others did" : ranks_text(one.others) + " did");
  };
  std::string text;
  switch (one.kind) {
    case Kind::DtypeMismatch:
      text = said("passed another data type");
      break;
    case Kind::ShapeMismatch:
      text = said("passed another size");
      break;
    case Kind::RootMismatch:
      text = said("named another root");
      break;
    case Kind::OrderMismatch:
      text = said("made its calls in another order");
      break;
    case Kind::DivergedControlFlow:
      text = said("made a call too many or too few");
      break;
    case Kind::MissingRank:
      text = said("is in an earlier call");
      break;
    case Kind::P2pUnmatched:
      text = said("is in a transfer whose other half no rank makes");
      break;
    default:
      text = said("called another operation");
  }
  if (one.has(F::ByHabit))
    text += " As many ranks are on each side, and earlier calls show which call is usual.";
  return text;
}

std::string by_reporter(const Explanation& one) {
  return one.reporter == Reporter::Process ? ""
                                           : fmt::format(" ({} reports it)", name_of(one.reporter));
}

std::string stack_text(const Explanation& one) {
  const std::string place = one.places.empty() ? "" : one.places.front().what;
  switch (one.ground()) {
    case F::OutsideByStack: {
      // The rank of a process without one is computed from the order of process ids.
      const bool is_guess = one.has(F::Doubtful) && !one.culprits.empty();
      const std::string who =
          is_guess && !one.places.empty() ? capital(one.places.front().who) : subject(one, "", "");
      return fmt::format(
          "{} is not in communication: its stack is in {}. {} of {} processes wait for others.{}",
          who, place, one.total - one.count, one.total,
          is_guess
              ? fmt::format(" It is rank {} if process ids follow the ranks.", one.culprits.front())
              : "");
    }
    case F::ElsewhereByStack:
      return fmt::format("{} of {} processes wait in another call than the others: {}.", one.count,
                         one.total, place);
    case F::StacksCross:
      return fmt::format(
          "{} wait for each other: by their stacks, each is in a call that ends only "
          "once another of them leaves its own.",
          capital(ranks_text(one.culprits)));
    case F::StacksTogether:
      return fmt::format("All {} processes wait in one call: {}. No single rank differs.",
                         one.count, place);
    default:
      break;
  }
  if (!one.what.empty())
    return fmt::format("The processes wait at one place, in different calls: {}.", one.what);
  if (one.count > 0)
    return fmt::format("{} processes wait in one call, {}; nothing shows whether there are others.",
                       one.count, place);
  return "The processes wait at several places, and no single one differs from the rest.";
}

/// Returns what is known of the process of a rank that is missing from a call.
std::string process_note(const Explanation& one) {
  if (one.has(F::AlsoStopped))
    return fmt::format(" {} stopped by a signal (SIGSTOP) or a debugger.",
                       one.culprits.size() == 1 ? "Its process is" : "Their processes are");
  if (one.has(F::AlsoSilent))
    return fmt::format(" {} not answer ncclras: stopped, dead or cut off.",
                       one.culprits.size() == 1 ? "Its process does" : "Their processes do");
  return {};
}

/// Returns the sentence on ranks that never entered a call, and on what they did instead.
std::string absent_text(const Explanation& one) {
  const std::string who = capital(ranks_text(one.culprits));
  const std::string never_entered =
      fmt::format("{} never entered {}: nothing is pending there{}.", who, one.call, waiters(one));
  const bool has_died = one.kind == Kind::DeadRank;
  if (!has_died && (one.has(F::AlsoStopped) || one.has(F::AlsoSilent)))
    return never_entered + process_note(one);
  std::string text;
  if (has_died && !one.what.empty()) {
    text = fmt::format("{} died before {}: {}.", who, one.call, excerpt(one.what));
  } else if (one.has(F::OwnException)) {
    text =
        fmt::format("{} raised {} and did not join {}{}.", who,
                    one.what.empty() ? "an exception" : excerpt(one.what), one.call, waiters(one));
  } else {
    text = never_entered;
    if (!one.what.empty())
      text += fmt::format(" It {}{}.", one.what.starts_with("was") ? "" : "is in ", one.what);
  }
  if (one.has(F::ByLogsAlone)) text += " There is no dump of it.";
  return text;
}

/// Returns the sentence on a call that some ranks left by a time-out, where nothing shows which other rank is missing.
std::string silent_ranks_text(const Explanation& one) {
  if (one.count > 0)
    return fmt::format(
        "{} of {} dumps are here, and {}{}: the dumps do not show which other rank is missing.",
        one.count, one.total, ranks_that(one.waiting, "waits", "wait"), in_call(one));
  const bool is_size_known = one.total > 0;
  std::string text =
      fmt::format("{} timed out{}; {}.",
                  is_size_known ? fmt::format("{} of {} ranks ({})", one.waiting.size(), one.total,
                                              ranks_text(one.waiting))
                                : capital(ranks_text(one.waiting)),
                  in_call(one),
                  is_size_known ? "which other rank is missing is unknown"
                                : "no line shows how many ranks the job has");
  if (!one.others.empty())
    text += fmt::format(" No line of {} shows this call.", ranks_text(one.others));
  std::vector<int> silent;
  std::ranges::set_difference(one.suspects, one.others, std::back_inserter(silent));
  if (is_size_known && !silent.empty())
    text += fmt::format(" No line of {} is here.", ranks_text(silent));
  if (one.kind == Kind::NetworkStall)
    return text +
           " A rank that did its part of a call with a root continues: the network between "
           "the hosts may be stuck.";
  return text + " A missing log is not evidence against a rank.";
}

/// Returns how long the ranks had waited, if that is no longer than pauses are.
std::string short_wait_note(const Explanation& one) {
  if (one.waited_s <= 0) return {};
  return fmt::format(
      " The wait was {:.1f} s old: the first step, a checkpoint or an evaluation takes as long. "
      "Ask again.",
      one.waited_s);
}

std::string absence_text(const Explanation& one) {
  switch (one.ground()) {
    case F::Absent:
      return absent_text(one);
    case F::OwesTransfer:
      if (one.has(F::SenderWentOn))
        return fmt::format("{} never made the other half of {}, which {} made before other calls.",
                           capital(ranks_text(one.culprits)), one.call, ranks_text(one.waiting));
      return fmt::format("{} never made the other half of {}, in which {}.",
                         capital(ranks_text(one.culprits)), one.call,
                         ranks_that(one.waiting, "waits", "wait"));
    case F::OneUnseen:
    case F::SomeUnseen:
      return fmt::format("There is no whole dump of {}, and {} for {}{}.{}",
                         ranks_text(one.culprits), ranks_that(one.waiting, "waits", "all wait"),
                         one.culprits.size() == 1 ? "it" : "them", in_call(one), process_note(one));
    case F::SilentRoot:
      return fmt::format("Rank 0, the usual root, logs nothing, and {}{}.",
                         ranks_that(one.waiting, "waits", "wait"), in_call(one));
    case F::LogsMeanwhile:
      return fmt::format("{} {} no time-out while {} timed out{}; its last line is: {}",
                         capital(ranks_text(one.culprits)),
                         one.culprits.size() == 1 ? "logs" : "log", ranks_text(one.waiting),
                         in_call(one), excerpt(one.what));
    case F::OnlySilent:
      return fmt::format(
          "{} most likely missing{}: it is the only rank without a time-out, and {}.",
          capital_ranks(one.culprits, "is", "are"), in_call(one, "from"),
          ranks_that(one.waiting, "timed out", "timed out"));
    case F::SilentRanks:
      return silent_ranks_text(one);
    case F::WentAhead:
      return fmt::format("{} alone went on to {}, while {} idle at one place before it.{}",
                         capital(ranks_text(one.culprits)), one.call,
                         ranks_that(one.others, "is", "are"),
                         one.has(F::InGroupCreation)
                             ? " Their stacks are in the creation of a group, which no recorder "
                               "keeps."
                             : "");
    case F::OutOfStep:
      return fmt::format(
          "Ranks are out of step: {} in {}, and {} in call {}. They made different "
          "numbers of calls: a branch, a loop length or a batch differs.",
          ranks_that(one.waiting, "is", "are"), one.call, ranks_text(one.others), one.count);
    case F::EnqueuedLess:
      return fmt::format(
          "{} most likely stuck outside of communication: it enqueued nothing behind "
          "{}, and {} enqueued {} calls and more.",
          capital_ranks(one.culprits, "is", "are"), one.call, ranks_text(one.waiting), one.count);
    case F::GroupsApart:
      return "Every rank waits, in calls of different groups: ranks that wait in one group may be "
             "missing from another.";
    case F::LeftBehind:
      return fmt::format(
          "{} {} call{} behind: no rank waits in a recorded call, but {} never came to {}, which "
          "{} ended.",
          capital_ranks(one.culprits, "is", "are"), one.count, one.count == 1 ? "" : "s",
          one.culprits.size() == 1 ? "it" : "they", one.call, ranks_text(one.waiting));
    case F::OneCallBehind:
      return fmt::format(
          "{} in {}, which {} ended: it is one call behind, or its GPU did not end "
          "what is over for the others.",
          capital_ranks(one.culprits, "is still", "are still"), one.call, ranks_text(one.waiting));
    default:
      return {};
  }
}

std::string stall_text(const Explanation& one) {
  switch (one.ground()) {
    case F::Cycle:
      if (one.has(F::OneBreaks))
        return fmt::format("{} in every cycle of waiting{}: the others only wait for it.",
                           capital_ranks(one.culprits, "is", "are"), in_call(one));
      return fmt::format("{} wait for each other in a cycle{}.", capital(ranks_text(one.others)),
                         one.has(F::ByHabit)
                             ? fmt::format("; only {} departs there from the order of its earlier "
                                           "calls",
                                           ranks_text(one.culprits))
                             : ", and nothing shows which of them left the order");
    case F::LoneTransfer:
      return fmt::format("{} in a transfer, {}, whose other end no line names.",
                         capital_ranks(one.waiting, "waits", "wait"), one.call);
    case F::EndsDiffer:
      return one.culprits.empty()
                 ? fmt::format("The two ends of {} differ, and nothing shows which is wrong.",
                               one.call)
                 : fmt::format(
                       "{} passed another {} to {} than its peer expects, which is not "
                       "usual for it.",
                       capital(ranks_text(one.culprits)),
                       one.kind == Kind::DtypeMismatch ? "data type" : "length", one.call);
    case F::SeenEntered:
      return fmt::format(
          "All {} members with a dump entered {} with equal arguments, and it does not "
          "end: no rank that is seen is at fault.",
          one.waiting.size() + one.others.size(), one.call);
    case F::AllEntered:
      if (one.kind == Kind::RootMismatch)
        return fmt::format(
            "Ranks may disagree on the root of {}: every member entered it, and {} "
            "did not end it. Recorders do not keep the root.",
            one.call, ranks_text(one.waiting));
      if (one.kind == Kind::Unknown)
        return fmt::format(
            "{} entered {}, and it does not end; no line shows which other ranks are "
            "in its group.",
            capital_ranks(one.waiting, "has", "have"), one.call);
      return fmt::format(
          "Every member entered {} with equal arguments, and it does not end: no "
          "rank is at fault, the transport or a GPU is stuck.",
          one.call);
    case F::TransferStalls:
      return fmt::format(
          "{} are at the two ends of one transfer, {}, and it does not end: the "
          "connection or a GPU is stuck.",
          capital(ranks_text(one.waiting)), one.call);
    case F::DeviceStuck:
      return fmt::format(
          "The GPU of {} is stuck, or the thread that watches it: {} is still "
          "pending there, and the other members ended it long ago.",
          ranks_text(one.culprits), one.call);
    case F::UnblockedInCall:
      return fmt::format(
          "{} is stuck in {}: it waits for no data, and the others wait for its "
          "data.",
          capital(ranks_text(one.culprits)), one.call);
    case F::DataLost:
      return fmt::format(
          "Data is lost on the network{}: {}{}, what was sent never arrived.{}", in_call(one),
          one.total > 1 ? "among others, " : "from ", one.where,
          one.suspects.empty()
              ? ""
              : fmt::format(" All {} such connections have {} at one end: its host or "
                            "its NIC is the first suspect.",
                            one.total, ranks_text(one.suspects)));
    case F::UnclearWait:
      return fmt::format("{}{}, and nothing shows for which ranks.",
                         capital_ranks(one.waiting, "waits", "wait"), in_call(one, "first in"));
    default:
      return {};
  }
}

std::string reported_text(const Explanation& one) {
  switch (one.ground()) {
    case F::ReportedAbsent:
      return fmt::format("{} did not arrive{}, according to {}.", capital(ranks_text(one.culprits)),
                         in_call(one, "to"), name_of(one.reporter));
    case F::NotStarted:
      return fmt::format("{} not begun to create the communicator, and the others wait in it.",
                         capital_ranks(one.culprits, "has", "have"));
    case F::ArrivalsCounted:
      return one.total > 0
                 ? fmt::format("{} of {} processes arrived at {}, and no line shows which did not.",
                               one.count, one.total, name_of(one.reporter))
                 : fmt::format(
                       "{} arrived at {}, which waited for other ranks; no line names them.",
                       one.waiting.empty() ? "Ranks" : capital(ranks_text(one.waiting)),
                       name_of(one.reporter));
    case F::CallsBehind:
      return one.culprits.empty()
                 ? fmt::format(
                       "{} ahead of the others in one ncclras report; it does not show "
                       "which of the others was late.",
                       capital_ranks(one.others, "is", "are"))
                 : fmt::format("{} launched {} call{} fewer than the others{}.",
                               capital(ranks_text(one.culprits)), one.count,
                               one.count == 1 ? "" : "s", by_reporter(one));
    case F::StatusDiffers:
      return fmt::format("{} not in the state of the others: {}{}.",
                         capital_ranks(one.culprits, "is", "are"), one.what, by_reporter(one));
    case F::LeftGroup:
      return fmt::format(
          "{} closed its process group while others waited: it left the job, most "
          "likely after an error of its own.",
          capital(ranks_text(one.culprits)));
    case F::Killed:
    case F::Exited:
    case F::DiedSomewhere:
    case F::NodeFailed:
      return death_text(one);
    case F::DeathSeenByPeers:
      if (one.cause == facts::DeathCause::ExitCode || one.exit_code != 0) return death_text(one);
      return fmt::format("{} dead: {} report{} it{}{}.", subject(one, "is", "are"),
                         name_of(one.reporter), one.reporter == Reporter::Peers ? "" : "s",
                         one.what.empty() ? "" : ", ", excerpt(one.what));
    case F::NoAnswer:
      return fmt::format("{} not answer {}: stopped, dead or cut off.", subject(one, "does", "do"),
                         name_of(one.reporter));
    case F::ErrorReported:
      return fmt::format("{} an error of its own by {}: {}.", subject(one, "holds", "hold"),
                         name_of(one.reporter), excerpt(one.what));
    case F::GpuFailed:
      return one.cause == facts::DeathCause::GpuMemory
                 ? fmt::format("{} because GPU memory was full: {}{}",
                               subject(one, "failed", "failed"), excerpt(one.what), local_note(one))
                 : fmt::format("{} of a GPU error: {}{}", subject(one, "failed", "failed"),
                               excerpt(one.what), local_note(one));
    case F::Raised:
      return one.culprits.empty()
                 ? fmt::format(
                       "A program raised an exception while others waited: {}. No line shows "
                       "on which rank.",
                       excerpt(one.what))
                 : fmt::format("{} raised an exception of its program: {}",
                               capital(ranks_text(one.culprits)), excerpt(one.what));
    case F::StoreLost:
      return fmt::format(
          "The process that holds the store{}{} went away before: {} lost the "
          "connection to it.",
          one.culprits.empty() ? "" : ", rank 0,", one.where.empty() ? "" : " on " + one.where,
          one.waiting.empty() ? "ranks" : ranks_text(one.waiting));
    case F::PeerLost:
      return fmt::format("{} ended before {} lost the connection to it.",
                         one.culprits.empty() ? "A peer" : capital(ranks_text(one.culprits)),
                         one.waiting.empty() ? "a rank" : ranks_text(one.waiting));
    case F::BusyElsewhere:
      return fmt::format("{} {}, while others gave up waiting.", subject(one, "", ""), one.what);
    case F::ProcessStopped:
      return fmt::format(
          "{} {}, and the others run.{}", subject(one, "", ""),
          one.what.empty() ? "is stopped by a signal (SIGSTOP) or a debugger" : one.what,
          local_note(one));
    case F::WatchdogStuck:
      return fmt::format(
          "The watchdog thread of {} does not run: a CUDA call or Python's lock holds "
          "the process.",
          ranks_text(one.culprits));
    case F::GpuIdle:
      return fmt::format(
          "{} not in the collective: its GPU is idle, and all others of the host are "
          "busy, as they are in a collective that waits.{}",
          subject(one, "is", "are"), local_note(one));
    case F::Slow:
      return fmt::format("{} slow: {} much longer than the others for its own work{}.",
                         subject(one, "is", "are"),
                         one.culprits.size() > 1 ? "they take" : "it takes",
                         one.what.empty() ? "" : " (" + one.what + ")");
    case F::LinkFailed:
    case F::LinkSuspected: {
      if (one.what.empty())
        return fmt::format(
            "The network between {} and the others failed: each side reports the other as gone.",
            ranks_text(one.others));
      const job::CompletionMeaning* meaning = job::meaning_of_completion(one.completion);
      return fmt::format(
          "The network {}: {}.{}", one.ground() == F::LinkFailed ? "failed" : "may have failed",
          excerpt(one.what),
          meaning == nullptr ? "" : fmt::format(" {}.", capital(std::string(meaning->cause))));
    }
    case F::PersonSays:
      return fmt::format("{} at fault, as a person who watched the job states: {}.",
                         subject(one, "is", "are"),
                         excerpt(one.evidence.empty() ? "" : one.evidence.front().text));
    default:
      return {};
  }
}

}  // namespace

std::string why_of(const Explanation& one) {
  const Feature ground = one.ground();
  switch (ground) {
    case F::CallsDiffer:
    case F::CallLinesDiffer:
    case F::CheckDiffers:
    case F::RootsDiffer:
      return difference_text(one);
    case F::MismatchReported:
      return one.culprits.empty()
                 ? fmt::format("Two ranks disagree on a call: {} reports it, and not which ranks.",
                               name_of(one.reporter))
                 : fmt::format("{} {} names {}.", difference_text(one),
                               capital(name_of(one.reporter)), ranks_text(one.culprits));
    case F::LastLinesDiffer:
      if (one.shown == Shown::Steps)
        return fmt::format(
            "{} at step {} by the last lines, and {} at step {}.",
            capital_ranks(one.culprits.empty() ? one.suspects : one.culprits, "is", "are"),
            one.count, ranks_text(one.others), one.total);
      return fmt::format("{} differs from the others in the last line of its log{}.",
                         capital(ranks_text(one.culprits)),
                         one.what.empty() ? "" : fmt::format(" ({})", one.what));
    case F::OutsideByStack:
    case F::ElsewhereByStack:
    case F::StacksCross:
    case F::StacksTogether:
    case F::StacksApart:
      return stack_text(one);
    default:
      break;
  }
  if (ground <= F::LeftBehind) return absence_text(one) + short_wait_note(one);
  if (ground <= F::UnclearWait) return stall_text(one);
  if (ground <= F::PersonSays) return reported_text(one);
  return quiet_text(one);
}

std::vector<std::string> details_of(const Explanation& one) {
  constexpr std::size_t kMost = 16;
  std::vector<std::string> details;
  for (const RanksAt& place : one.places) {
    if (details.size() >= kMost) break;
    const std::string who = place.ranks.empty() ? place.who : ranks_text(place.ranks);
    std::string text = who.empty() ? place.what : fmt::format("{}: {}", who, place.what);
    if (!place.waits_for.empty())
      text += fmt::format(", waits for {}", ranks_text(place.waits_for));
    details.push_back(std::move(text));
  }
  return details;
}

}  // namespace ringside::hang
