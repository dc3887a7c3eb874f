#include <fmt/format.h>

#include "diag/report/sentences/hang_words.h"

/// Sentences for verdicts without a culprit: the job moves, it ended, or nothing shows a hang. The ground of the verdict
/// (ground()) selects the sentence, and for NothingShown the field `shown`. Each sentence uses only the fields that the
/// generator of that ground sets (diag/hangdetect/verdict/quiet.cpp).
namespace ringside::hang {
namespace {

using F = Feature;
using facts::Reporter;

std::string shown_text(const Explanation& one) {
  switch (one.shown) {
    case Shown::TimedOut:
      if (one.waiting.empty() && !one.places.empty()) {
        const RanksAt& first = one.places.front();
        return fmt::format(
            "{} of group {} timed out in {}; no line shows which ranks of the job these are.",
            capital(ranks_text(first.ranks)), first.who, first.what);
      }
      return fmt::format("{} timed out in a collective, and no line shows with which ranks.",
                         one.waiting.empty() ? "Ranks" : capital(ranks_text(one.waiting)));
    case Shown::Stacks: {
      std::string who;
      for (const RanksAt& place : one.places)
        who += fmt::format("{}{} is in {}", who.empty() ? "" : "; ", place.who, place.what);
      const bool are_all = one.total > 0 && one.count >= one.total;
      return fmt::format("No process waits for another: {}.{}", who,
                         are_all         ? " These are all ranks of the job."
                         : one.count > 1 ? " If the job has more ranks, their stacks are not here."
                                         : " The stacks of the others are not here.");
    }
    case Shown::ServerWaits:
      return fmt::format(
          "The server's engine reports {} times that it waits for its workers: one "
          "of them hangs, or does not read. No line shows which.",
          one.count);
    case Shown::WatchdogLines:
      return "A watchdog reports that calls failed or timed out; no line shows which call, or "
             "which ranks.";
    case Shown::Alarms:
      return fmt::format(
          "{} line{} of an error or a wait that is unknown here; no line shows a "
          "collective that hangs.",
          one.count, one.count == 1 ? "" : "s");
    case Shown::NoJob:
      return "No line here is of a job of several processes: nothing shows a hang, nor that all "
             "is well.";
    case Shown::WatchdogStuck:
    case Shown::WatchdogAtEnd:
      return fmt::format("The watchdog of {} does not run, and no collective is pending.{}",
                         one.waiting.empty() ? "a rank" : ranks_text(one.waiting),
                         one.shown == Shown::WatchdogAtEnd
                             ? " The program had finished, so the release of the groups hangs."
                             : "");
    case Shown::Cancelled:
      return fmt::format("{} ended the job{}{}; nothing shows whether it was stuck.",
                         one.reporter == Reporter::Launcher ? "A signal from outside"
                                                            : capital(name_of(one.reporter)),
                         one.where.empty() ? "" : ": ", one.where);
    case Shown::RaisedError:
      return fmt::format(
          "A call of the library failed{}: {}. No line shows a wait, or what failed "
          "first; `ringside audit` shows what follows from it.",
          one.others.empty() ? "" : " on " + ranks_text(one.others), excerpt(one.what));
    case Shown::MixedCalls:
      return "No call in these dumps names its group (TORCH_DISTRIBUTED_DEBUG=DETAIL wraps them), "
             "so sequences cannot be distinguished.";
    case Shown::EndsAlone:
      return fmt::format(
          "The recorder notes calls when they have ended, so nothing here shows where a "
          "rank waits.{}",
          one.call.empty() ? ""
                           : fmt::format(" The last call that {} ended is {}.",
                                         ranks_text(one.others), one.call));
    case Shown::IssuesAlone:
      return "All ranks have issued the same calls; their recorder notes a call when it is issued, "
             "so nothing here shows whether the last one ended.";
    case Shown::LaunchesAlone:
      return "All ranks have launched the same calls by ncclras: the job is idle, or all are in "
             "one call that does not end.";
    default:
      return "Nothing shows a hang: there is no dump, and no line reports a wait.";
  }
}

std::string nothing_pending_text(const Explanation& one) {
  std::string text = "No rank waits in a call that its recorder has seen";
  if (one.count > 0)
    text += fmt::format(": all {} calls of {} are done{}", one.count,
                        one.total == 1 ? "the rank" : fmt::format("each of {} ranks", one.total),
                        one.are_calls_alike && one.total > 1 ? ", in the same order" : "");
  text += ".";
  if (one.reports_end) text += " The log reports that the program finished, or that it serves.";
  return text + " This does not exclude that a rank is stuck outside of a collective.";
}

}  // namespace

std::string quiet_text(const Explanation& one) {
  if (one.ground() == F::NothingPending) return nothing_pending_text(one);
  const std::string step = one.count < 0
                               ? ""
                               : fmt::format(" up to step {}{}", one.count,
                                             one.total > 0 ? fmt::format(" of {}", one.total) : "");
  switch (one.ground()) {
    case F::Moved:
      return "The job moves: " +
             (one.what.empty()
                  ? std::string("ranks launched more calls between two ncclras reports.")
                  : one.what + ".");
    case F::WaitsAreYoung:
      return "No call had waited long when the dumps were written: the job moved, or had only just "
             "stopped.";
    case F::NotLate:
      return fmt::format(
          "{} may just be about to{}: as far as is recorded, it is no later than its usual "
          "pause{}. Ask again after that.",
          capital(ranks_text(one.others)), one.call.empty() ? " make it" : in_call(one, "enter"),
          one.what.empty() ? "" : fmt::format(" of up to {}", one.what));
    case F::ReportIsHealthy:
      return fmt::format(
          "ncclras finds every communicator OK: all {} ranks answer and launched as many calls.",
          one.total);
    case F::Finished:
      return "The program reports that it finished, or that it serves.";
    case F::WentOn:
      return fmt::format("The job went on after the last line of trouble{}.", step);
    case F::StepsWentOn:
      return one.pause_s > 0
                 ? fmt::format("The job went on after a pause of {} s: it made steps{}.",
                               one.pause_s, step)
                 : fmt::format(
                       "The job makes steps{}; the warnings next to them also appear in jobs "
                       "that run well.",
                       step);
    case F::OnlyHarmless:
      return "The warnings here also appear in jobs that run and end well; nothing else shows a "
             "hang.";
    case F::OnlySteps:
      return fmt::format("The job makes one step after another{}; nothing shows a hang.", step);
    case F::EndedFromOutside:
      return fmt::format("The job made steps{} when {} ended it{}{}.", step, name_of(one.reporter),
                         one.where.empty() ? "" : ": ", one.where);
    case F::FailedAtOnce:
      return fmt::format(
          "The job failed and does not hang: {}. `ringside audit` shows what follows "
          "from it.",
          excerpt(one.what));
    default:
      return shown_text(one);
  }
}

}  // namespace ringside::hang
