#include <algorithm>

#include "diag/audit/quoted_line.h"
#include "diag/audit/shard.h"
#include "diag/job/occupation.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/paste.h"

// What a Shard takes from lines without NCCL's prefix, which other programs write: the types of PlainLine, tables of
// tools, versions, progress bars, and lines that no rule reads.

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns whether a person or a test writes about the stack, rather than the stack itself: a question, a sentence in
/// the first person, a test's result. Issues and chats quote logs between such lines.
bool is_talk(std::string_view text) {
  // A question of c10d itself: `Did the remote server shutdown or crash?`
  const bool asks =
      (text.ends_with('?') || contains(text, "? ")) && !contains(text, "Did the remote");
  // A program does not write `I` about itself.
  return asks || starts_with_any(text, {"I ", "We ", "My "}) ||
         contains_any(text, {" I ", " my ", "I'm ", "I've ", " PASSED", " SKIPPED"}) ||
         text.ends_with(" ... ok");
}

/// Returns whether a line only repeats what another line reports (a command that a shell echoes, the end of an
/// exception's text, a source line), or holds data.
bool is_echo(std::string_view text) {
  constexpr std::size_t kLongest = 1'000;  // longer lines are a program's settings
  return text.size() > kLongest || contains(text, "{\"") ||
         starts_with_any(text,
                         {"+ ", "\"", "Last error", "Exception raised from", "raise ",
                          "ncclSystemError:", "ncclInternalError:", "ncclUnhandledCudaError:",
                          "ncclRemoteError:", "ncclInvalidUsage:", "self.", "dist.", "torch."});
}

}  // namespace

/// Notes a line of the stack, by its prefix or by its words, that no rule has read and that has no known reason.
void Shard::note_unread(const Record& record, const PlainSet& lines) {
  const bool is_after_frame = last_plain_ == RecordKind::Traceback;
  last_plain_ = record.kind;
  // These words show what a line is about, not that a rule understands it.
  static const PlainSet kInconclusive =
      plain_set({PlainLine::StackWord, PlainLine::Occupied, PlainLine::GpuName,
                 PlainLine::WorldSize, PlainLine::ToolLine, PlainLine::AmdWord});
  const bool is_read = (lines & ~kInconclusive).any() || reader_.knows_line();
  switch (record.kind) {
    case RecordKind::Unknown:
    case RecordKind::Fragment:
      if (is_read) return;
      unread.lines.add(record.place, record.speaker, record.line);
      if (record.level == Level::Warn)
        unread.warnings.add(record.place, record.speaker, record.line);
      return;
    case RecordKind::Text:
      // The source line below a frame of a traceback is not a message.
      if (is_after_frame || is_read || !has_line(lines, PlainLine::StackWord)) return;
      if (!is_trouble_of_stack(record.text()) || is_echo(trimmed_left(record.text()))) return;
      if (is_talk(trimmed(record.text()))) return;
      unread.lines.add(record.place, record.speaker, record.line);
      unread.texts.add(record.place, record.speaker, record.line);
      return;
    default:
      return;
  }
}

/// Takes a reason of a failure that a library's line states in addition to its message.
void Shard::take_reasons(const Record& record) {
  const PlainSet lines = plain_lines_of(record.line);
  for (std::size_t i = kFirstReason; i < kPlainLines; ++i) {
    if (lines[i]) keep_plain(record, i);
  }
}

/// Keeps a line of type `line`, the number of a PlainLine.
void Shard::keep_plain(const Record& record, std::size_t line) {
  constexpr std::size_t kMostKept = 1'000;
  plain[line].evidence.add(record.place, record.speaker, record.line);
  if (plain[line].kept.size() >= kMostKept) return;
  plain[line].kept.push_back({quoted_line(record), speakers[record.speaker].launcher_rank});
}

/// Takes a line without NCCL's prefix, by the words in it: the types of PlainLine, tools' tables, versions.
void Shard::take_plain(const Record& record) {
  if (matrix_lines_.wants(record.text())) {
    matrix_lines_.take(record, speakers[record.speaker].host, matrices);
  }
  PlainSet lines = plain_lines_of(record.line);
  if (has_line(lines, PlainLine::ToolLine) || capability_lines_.awaits_answer())
    capability_lines_.take(record, capabilities);
  note_unread(record, lines);
  is_of_job = is_of_job || (lines & ~words_of_anybody()).any();
  // NCCL prints its last warning on the line after `Last error:`.
  const bool is_head =
      record.kind == RecordKind::Message && is_message(record, MessageId::LastError);
  if (is_after_last_error_ && !is_head && !trimmed(record.text()).empty()) {
    lines.set(static_cast<std::size_t>(PlainLine::LastError));
    is_after_last_error_ = false;
  }
  is_after_last_error_ = is_after_last_error_ || is_head;
  if (version_facts.empty() && has_line(lines, PlainLine::StackWord)) {
    const std::string_view version = library_version_in(record.line);
    if (!version.empty()) version_facts.emplace(version, VersionFact{.is_of_text = true});
  }
  // The line before a progress bar may name what the bar measures.
  if (!has_line(lines, PlainLine::Occupied) && record.kind == RecordKind::Text &&
      !record.line.empty()) {
    before_.assign(record.line.substr(0, kQuotedBytes));
    before_place_ = record.place;
  }
  for (std::size_t i = 0; lines.any() && i < kPlainLines; ++i) {
    if (!lines[i]) continue;
    if (i == static_cast<std::size_t>(PlainLine::StackWord) ||
        i == static_cast<std::size_t>(PlainLine::ToolLine))
      continue;
    if (i == static_cast<std::size_t>(PlainLine::Occupied)) {
      keep_occupied(record);
    } else {
      keep_plain(record, i);
    }
  }
}

/// Keeps a line of a busy process. A progress bar is drawn again and again: only its last state is kept.
void Shard::keep_occupied(const Record& record) {
  using What = job::Occupation::What;
  const auto is_bar = [](What what) { return what == What::Bar || what == What::BarDone; };
  const std::string_view newest = record.line.substr(record.line.rfind('\r') + 1);
  const What doing = job::occupation_in(newest).what;
  if (doing == What::None) return;
  PlainLines& occupied = plain[static_cast<std::size_t>(PlainLine::Occupied)];
  const bool is_redrawn = is_bar(doing) && !occupied.kept.empty() &&
                          occupied.kept.back().quoted.process == record.speaker &&
                          is_bar(job::occupation_in(occupied.kept.back().quoted.text).what);
  if (is_redrawn) occupied.kept.pop_back();
  if (is_bar(doing) && !before_.empty()) {
    occupied.evidence.add(before_place_, record.speaker, before_);
    before_.clear();
  }
  keep_plain(record, static_cast<std::size_t>(PlainLine::Occupied));
  if (is_bar(doing) && !occupied.kept.empty()) occupied.kept.back().quoted.text = quotable(newest);
}

}  // namespace ringside::audit
