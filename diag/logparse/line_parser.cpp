#include "diag/logparse/line_parser.h"

#include <algorithm>
#include <cstring>

#include "diag/logparse/bare_prefix.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/newlines.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/torch_prefix.h"

namespace ringside::logs {

LineParser::LineParser(RecordSink& sink)
    : sink_(sink), batch_(new Record[kBatch]), matches_(new LineMatch[kBatch]) {}

void LineParser::begin(std::uint32_t piece, std::uint32_t file, std::string_view path) {
  if (!partial_.empty()) join_partial({}, false);
  place_ = {piece, 0};
  file_ = file;
  path_ = path;
  continues_ = false;
}

void LineParser::pass_records() {
  if (size_ > 0) sink_.take({batch_.get(), size_}, speakers_);
  size_ = 0;
}

void LineParser::flush() {
  pass_records();
  kept_.clear();
  kept_bytes_ = 0;
}

void LineParser::finish() {
  if (!partial_.empty()) join_partial({}, false);
  flush();
}

/// Stores a text that is not part of the input until flush().
std::string_view LineParser::kept(std::string_view text) {
  kept_.push_back(std::make_unique<std::string>(text));
  kept_bytes_ += text.size();
  return *kept_.back();
}

Record& LineParser::open_record(std::string_view line, std::size_t text_at) {
  Record& record = batch_[size_];
  record.kind = RecordKind::Unknown;
  record.level = Level::None;
  record.is_torn = false;
  record.is_cut = is_cut_;
  record.device = -1;
  record.repeats = 1;
  record.tid = -1;
  record.place = place_;
  record.time_us = time_us_;
  record.line = line;
  record.text_at = static_cast<std::uint32_t>(text_at);
  return record;
}

void LineParser::close_record() {
  const Record& record = batch_[size_];
  ++counts_.records[static_cast<std::size_t>(record.kind)];
  if (++size_ == kBatch) pass_records();  // the line may continue, so its stored texts stay
}

void LineParser::parse(std::string_view line, std::uint32_t number, bool is_odd, bool is_cut) {
  matches_left_ = {};
  is_cut_ = is_cut;
  parse_line(line, number, is_odd);
}

void LineParser::parse_restored(const RestoredLine& restored, bool is_odd) {
  const std::string whole = restored.stamped();
  const bool is_cut = whole.size() > kMaxLine;
  is_paste_ = true;
  begin_part(restored.host, restored.rank);
  parse(kept(std::string_view(whole).substr(0, kMaxLine)), restored.number, is_odd, is_cut);
  is_paste_ = false;
  begin_part({}, -1);
  if (is_cut) ++counts_.overlong;
  counts_.lines += restored.lines - 1;
}

void LineParser::begin_part(std::string_view host, std::int32_t rank) {
  label_host_ = host;
  label_rank_ = rank;
}

void LineParser::parse_lines(const char* begin, const char* block,
                             std::span<const std::uint32_t> ends, std::uint32_t number) {
  is_cut_ = false;
  while (!ends.empty()) {
    const std::size_t together = std::min(ends.size(), kBatch);
    known_.match(begin, block, ends.first(together), matches_.get());
    matches_left_ = {matches_.get(), together};
    for (const std::uint32_t end : ends.first(together)) {
      const std::string_view line(begin, block + (end & ~kOddLine));
      const bool is_odd = (end & kOddLine) != 0;
      if (is_odd || !parse_known(line, number)) {
        matched_ = begin;
        parse_line(line, number, is_odd);
      }
      ++number;
      begin = line.data() + line.size() + 1;
      matches_left_ = matches_left_.subspan(1);
    }
    ends = ends.subspan(together);
  }
}

/// The fast path for most lines of a large log: looks up the meaning of the whole line.
bool LineParser::parse_known(std::string_view line, std::uint32_t number) {
  const LineMatch& match = matches_left_.front();
  if (match.prefix == LineMatch::kNone || match.text == LineMatch::kNone || !partial_.empty()) {
    return false;
  }
  const KnownText& known = known_.text(match);
  Record& record = batch_[size_];
  if (!known.fill(line.substr(match.text_at), match.differs_seldom, record)) return false;
  const KnownPrefix& prefix = known_.prefix(match);
  record.level = Level::Info;
  record.is_torn = false;
  record.is_cut = false;
  record.device = match.device;
  record.repeats = 1;
  record.tid = prefix.tid;
  record.speaker = prefix.speaker;
  record.place = {place_.piece, number};
  record.time_us = 0;
  record.line = line;
  record.text_at = std::uint32_t{match.text_at} + known.blanks;
  ++counts_.lines;
  continues_ = known.continues;
  continued_speaker_ = record.speaker;
  close_record();
  return true;
}

void LineParser::parse_line(std::string_view line, std::uint32_t number, bool is_odd) {
  place_.line = number;
  time_us_ = 0;
  ++counts_.lines;
  constexpr std::size_t kMostKept = 4 << 20;
  if (kept_bytes_ > kMostKept) flush();
  if (is_odd || !partial_.empty()) {
    parse_odd(line);
  } else if (matches_left_.empty() || matches_left_.front().prefix == LineMatch::kNone) {
    parse_clean(line);
  } else {
    parse_with_prefix(line, matches_left_.front());
  }
}

/// Parses a text after a known prefix.
void LineParser::parse_with_prefix(std::string_view line, const LineMatch& match) {
  level_ = rank_ = {};
  const KnownPrefix& known = known_.prefix(match);
  Record& record = open_record(line, match.text_at);
  record.level = Level::Info;
  record.device = match.device;
  record.tid = known.tid;
  record.speaker = known.speaker;
  const std::string_view text = record.text();
  const Parsed parsed = parse_nccl_text(text, Level::Info, record);
  NcclPrefix prefix;
  std::size_t second = 0;
  if (parsed == Parsed::Whole || !find_second(line, match.text_at, prefix, second)) {
    const bool is_understood = parsed == Parsed::Whole || parsed == Parsed::Open;
    finish_text(record, parsed);
    if (is_understood && known_.note_unknown(match)) {
      pass_records();  // its records may refer to texts that are released now
      known_.learn_text(text, matches_left_);
    }
    return;
  }
  prefix = {};  // another line begins inside this one
  prefix.tid = known.tid;
  prefix.device = match.device;
  prefix.level = Level::Info;
  prefix.end = match.text_at;
  parse_clean(parse_texts(line, prefix, known.speaker, {}));
}

/// Learns the writer of this line, so that the next line with this prefix is known.
void LineParser::learn_prefix(std::string_view line, const NcclPrefix& prefix,
                              std::uint32_t speaker) {
  if (matches_left_.empty() || line.data() != matched_) return;
  const LineMatch& match = matches_left_.front();
  const bool is_matched = match.prefix_size > 0 && prefix.begin == 0 &&
                          prefix.level == Level::Info && prefix.end == match.text_at;
  if (is_matched) known_.learn_prefix(line, speaker, prefix.tid, matches_left_);
}

std::uint32_t LineParser::speaker_of(const NcclPrefix& prefix, const Wrapping& wrapping) {
  return speakers_.impl().find({.host = prefix.host,
                                .pid = prefix.pid,
                                .launcher_rank = wrapping.launcher_rank,
                                .local_rank = wrapping.local_rank,
                                .file = file_});
}

std::uint32_t LineParser::speaker_of(const Wrapping& wrapping) {
  const std::string_view host =
      wrapping.host.empty() ? std::string_view(label_host_) : wrapping.host;
  const std::int32_t rank = wrapping.launcher_rank >= 0 ? wrapping.launcher_rank : label_rank_;
  if (rank < 0 && wrapping.local_rank < 0 && host.empty() && wrapping.pid < 0) {
    return speakers_.impl().speaker_of(file_, path_);
  }
  return speakers_.impl().find({.host = host,
                                .pid = wrapping.pid,
                                .launcher_rank = rank,
                                .local_rank = wrapping.local_rank,
                                .file = file_});
}

/// Parses a line without control characters.
void LineParser::parse_clean(std::string_view line) {
  level_ = rank_ = {};
  while (!line.empty()) line = parse_first(line);
}

namespace {

/// Returns whether the text is a tag such as `[rank3]:`; within a line, `[rank3] ` is text.
bool is_closed_tag(std::string_view text) {
  const std::size_t end = text.find(']');
  return end != std::string_view::npos && end + 1 < text.size() && text[end + 1] == ':';
}

/// Returns where `[rank3]: ` or `[E ProcessGroupNCCL.cpp:821] ` begins, near the line's start.  returns  0: no such
/// tag
std::size_t rank_tag(std::string_view line, std::size_t from) {
  constexpr std::size_t kNear = 96;
  const std::string_view head = line.substr(0, from + kNear);
  for (const std::string_view tag : {"[rank", "[default"}) {
    const std::size_t at = find_text(head, tag, from);
    if (at == std::string_view::npos || !is_closed_tag(line.substr(at))) continue;
    if (strip_wrappers(line.substr(at), false).size > 0) return at;
  }
  const std::size_t file = find_text(head, " ProcessGroupNCCL.cpp:", from);
  if (file == std::string_view::npos) return 0;
  const std::size_t at = head.rfind('[', file);
  TorchPrefix prefix;
  const bool is_header =
      at != std::string_view::npos && at >= from && read_torch_prefix(line.substr(at), prefix) > 0;
  return is_header ? at : 0;
}

/// Returns where ` [repeated 15x across cluster]` begins, which Ray appends to a line that many processes print.
std::size_t end_of_folded(std::string_view line) {
  const std::size_t at = find_text(line, " [repeated ");
  const bool is_folded = at != std::string_view::npos &&
                         find_text(line, "x across cluster]", at) != std::string_view::npos;
  return is_folded ? at : line.size();
}

}  // namespace

/// returns  the rest, if another line with a launcher's tag begins inside this one
std::string_view LineParser::parse_first(std::string_view line) {
  NcclPrefix prefix;
  if (read_nccl_prefix(line, prefix)) {
    return parse_beginnings(line, 0, prefix, {});
  }
  if (line.front() == '{') {
    std::string text;
    std::int64_t time = 0;
    if (unwrap_json_line(line, text, time)) {
      parse_json(text, time);
      return {};
    }
  }
  Wrapping wrapping = strip_wrappers(line, true);
  bool is_prefix = read_nccl_prefix(line.substr(wrapping.size), prefix);
  if (wrapping.is_doubtful && !is_prefix && !speakers_.impl().knows_host(wrapping.host)) {
    wrapping = strip_wrappers(line, false);
    is_prefix = read_nccl_prefix(line.substr(wrapping.size), prefix);
  }
  if (wrapping.time_us != 0) time_us_ = wrapping.time_us;
  if (wrapping.is_partial || (wrapping.size > 0 && !partial_.empty())) {
    join_partial(line.substr(wrapping.size), wrapping.is_partial);
    return {};
  }
  if (is_prefix) {
    if (line.front() == '(') line = line.substr(0, end_of_folded(line));
    prefix.begin += wrapping.size;
    prefix.end += wrapping.size;
    return parse_beginnings(line, wrapping.size, prefix, wrapping);
  }
  if (find_once(line, " NCCL ", wrapping.size, level_) != std::string_view::npos &&
      find_nccl_prefix(line, wrapping.size, prefix)) {
    return parse_beginnings(line, wrapping.size, prefix, wrapping);
  }
  if (const std::size_t tag = rank_tag(line, wrapping.size); tag > wrapping.size) {
    return line.substr(tag);  // after a collector's label that no rule knows
  }
  parse_plain(line, wrapping.size, wrapping, false);
  return {};
}

/// Finds where a torn line's host really starts: at a host that has logged before, otherwise after characters that no
/// host starts with.
void LineParser::find_host(std::string_view line, std::size_t from, NcclPrefix& prefix) {
  if (prefix.begin == from) return;
  std::string_view host = prefix.host;
  while (!host.empty() && !speakers_.impl().knows_host(host)) host.remove_prefix(1);
  if (host.empty()) {
    host = prefix.host;
    while (host.size() > 1 && (host.front() == '-' || host.front() == '.' || host.front() == '_')) {
      host.remove_prefix(1);
    }
  }
  prefix.host = host;
  prefix.begin = static_cast<std::uint32_t>(host.data() - line.data());
}

/// Parses from `from` on: the text before the prefix, and each line that begins after it.
std::string_view LineParser::parse_beginnings(std::string_view line, std::size_t from,
                                              NcclPrefix prefix, const Wrapping& wrapping) {
  if (prefix.begin > from) {
    find_host(line, from, prefix);
    // A time in an unknown format, or an unknown label, is not the end of a torn line.
    const std::string_view before = trimmed(line.substr(from, prefix.begin - from));
    const bool is_label =
        before.find_first_not_of("0123456789-:.,/TZ+[]() ") == std::string_view::npos ||
        line[prefix.begin - 1] == '\t' || before.ends_with(",\"");
    if (!before.empty() && !is_label) {
      ++counts_.torn;
      parse_plain(line.substr(0, prefix.begin), from, wrapping, true);
    }
  }
  const std::uint32_t speaker = speaker_of(prefix, wrapping);
  learn_prefix(line, prefix, speaker);
  return parse_texts(line, prefix, speaker, wrapping);
}

/// Finishes a text that ends its line.
void LineParser::finish_text(Record& record, Parsed parsed) {
  record.is_torn |= parsed == Parsed::Broken;
  if (record.kind == RecordKind::Message) {
    record.text_at +=
        static_cast<std::uint32_t>(record.text().size() - trimmed_left(record.text()).size());
  }
  if (record.kind == RecordKind::Unknown) count_unparsed(record);
  continues_ = may_go_on(record);
  continued_speaker_ = record.speaker;
  close_record();
}

/// Calls find_text() for the rest of a line, once per word and line.
std::size_t LineParser::find_once(std::string_view line, std::string_view word, std::size_t from,
                                  Sought& sought) {
  const char* const end = line.data() + line.size();
  if (sought.end != end || sought.at < line.data() + from) {
    const std::size_t at = find_text(line, word, from);
    sought = {at == std::string_view::npos ? end : line.data() + at, end};
  }
  if (sought.at == end) return std::string_view::npos;
  return static_cast<std::size_t>(sought.at - line.data());
}

/// Parses a text after a prefix, and the texts after further prefixes in it.
std::string_view LineParser::parse_texts(std::string_view line, NcclPrefix prefix,
                                         std::uint32_t speaker, const Wrapping& wrapping) {
  for (;;) {
    Record& record = open_record(line, prefix.end);
    record.level = prefix.level;
    record.device = prefix.device;
    record.tid = prefix.tid;
    record.speaker = speaker;
    NcclPrefix next;
    std::size_t end = line.size();
    // In a line of many joined lines, each one is parsed on its own.
    constexpr std::size_t kLong = 4'096;
    const bool is_long = record.text().size() > kLong;
    const bool has_second = is_long && find_second(line, prefix.end, next, end);
    if (!has_second) {
      const Parsed parsed = parse_nccl_text(record.text(), record.level, record);
      if (is_long || parsed == Parsed::Whole || !find_second(line, prefix.end, next, end)) {
        finish_text(record, parsed);
        return {};
      }
    }
    // Another line begins inside this one: parses the rest again.
    ++counts_.torn;
    record.kind = RecordKind::Unknown;
    record.line = line.substr(0, end);
    record.is_torn = true;
    parse_nccl_text(record.text(), record.level, record);
    close_record();
    if (next.level == Level::None) {
      return line.substr(end);
    }
    line.remove_prefix(next.begin);
    next.end -= next.begin;
    next.begin = 0;
    prefix = next;
    speaker = speaker_of(prefix, wrapping);
  }
}

/// Finds the next beginning of a line after `from`: an NCCL prefix, or one of PyTorch (next.level is None then). Sets
/// `end` to the end of the text before it; a launcher's tag before the prefix belongs to the later line.
/// returns  false: no line begins there
bool LineParser::find_second(std::string_view line, std::size_t from, NcclPrefix& next,
                             std::size_t& end) {
  const std::size_t torch = find_once(line, "[rank", from, rank_);
  if (torch != std::string_view::npos) {
    Wrapping wrapping = strip_wrappers(line.substr(torch), false);
    NcclPrefix before;
    const bool is_nccl_first = find_nccl_prefix(line.substr(0, torch), from, before);
    if (wrapping.size > 0 && is_closed_tag(line.substr(torch)) && !is_nccl_first) {
      next = {};
      end = torch;
      return true;
    }
  }
  if (!find_nccl_prefix(line, from, next)) return false;
  find_host(line, from, next);
  end = next.begin;
  for (std::size_t tag = end; tag-- > from && end - tag < 64;) {
    if (line[tag] != '[') continue;
    const Wrapping wrapping = strip_wrappers(line.substr(tag), false);
    if (wrapping.size > 0 && tag + wrapping.size == next.begin) {
      end = tag;
      next = {};  // parsed again, including its tag
      return true;
    }
  }
  return true;
}

/// Reads a partial prefix at the start of a record's text, and the text after it. A place in a source alone is no
/// evidence: such a line counts as NCCL's only if its text is understood.
///
/// is_place_alone  looks for a place without a level, else for a level
/// returns  false: it is another program's line; the record is as it was
bool LineParser::parse_bare(Record& record, const Wrapping& wrapping, bool is_place_alone) {
  NcclPrefix prefix;
  if (!read_bare_prefix(record.text(), prefix)) return false;
  if ((prefix.level == Level::None) != is_place_alone) return false;
  const std::uint32_t text_at = record.text_at;
  const std::uint32_t behind = prefix.end;
  record.text_at += behind;
  record.text_at +=
      static_cast<std::uint32_t>(record.text().size() - trimmed_left(record.text()).size());
  record.kind = RecordKind::Unknown;
  const Parsed parsed = parse_nccl_text(record.text(), prefix.level, record);
  const bool is_read = parsed == Parsed::Whole || parsed == Parsed::Open;
  if (prefix.level == Level::None && !is_read) {
    record.text_at = text_at;
    record.kind = RecordKind::Text;
    return false;
  }
  record.level = prefix.level;
  record.device = prefix.device;
  record.is_torn |= parsed == Parsed::Broken;
  const bool is_identified =
      wrapping.launcher_rank >= 0 || wrapping.local_rank >= 0 || wrapping.pid >= 0;
  if (!is_identified && (!prefix.host.empty() || prefix.device >= 0)) {
    // If the numbers are missing, the device distinguishes the processes of a host best.
    record.speaker = speakers_.impl().find({.host = prefix.host,
                                            .pid = prefix.pid,
                                            .launcher_rank = -1,
                                            .local_rank = prefix.pid < 0 ? prefix.device : -1,
                                            .file = file_});
  }
  if (record.kind == RecordKind::Unknown) count_unparsed(record);
  return true;
}

/// Parses a pasted line that has lost its beginning, or begins in an unknown way: finds a message that starts at one
/// of its words, if enough words of the message match.
void LineParser::parse_inside(Record& record) {
  constexpr std::size_t kNear = 160;
  const std::string_view text = record.text();
  const std::uint32_t text_at = record.text_at;
  for (std::size_t at = text.find(' '); at != std::string_view::npos && at < kNear;
       at = text.find(' ', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (rest.empty() || rest.front() == ' ') continue;
    if (!begins_message(rest)) continue;
    record.text_at = text_at + static_cast<std::uint32_t>(at + 1);
    if (parse_message(rest, record) != Parsed::No) return;
    record.text_at = text_at;
    record.kind = RecordKind::Text;
  }
}

/// Assigns all lines of a traceback to the process that wrote its first line, even if only that line has a tag.
void LineParser::follow_traceback(const Wrapping& wrapping, std::string_view text, Record& record) {
  constexpr std::uint32_t kLongest = 200;
  if (text.ends_with("Traceback (most recent call last):")) {
    traceback_speaker_ = record.speaker;
    traceback_left_ = wrapping.launcher_rank >= 0 ? kLongest : 0;
    return;
  }
  if (traceback_left_ == 0) return;
  --traceback_left_;
  if (wrapping.size > 0) {
    // The line has another process's tag, or every line of the traceback has one.
    traceback_left_ = 0;
    return;
  }
  record.speaker = traceback_speaker_;
  // The last line of a traceback is the only one that begins with a letter and names an error.
  const bool is_inside =
      text.starts_with("File \"") || text.starts_with(' ') || !contains(text, "Error: ");
  if (!is_inside) traceback_left_ = 0;
}

/// Parses a line, or the rest of a line, without an NCCL prefix.
void LineParser::parse_plain(std::string_view line, std::size_t from, const Wrapping& wrapping,
                             bool is_torn) {
  std::string_view text = line.substr(from);
  from += text.size() - trimmed_left(text).size();
  TorchPrefix torch;
  from += read_torch_prefix(line.substr(from), torch);
  line = trimmed_right(line);
  if (from >= line.size()) return;
  Record& record = open_record(line, from);
  text = record.text();
  from += text.size() - trimmed_left(text).size();
  record.text_at = static_cast<std::uint32_t>(from);
  record.is_torn = is_torn;
  record.speaker = speaker_of(wrapping);
  if (is_paste_) follow_traceback(wrapping, text, record);
  record.kind = RecordKind::Text;
  const std::size_t folded = find_text(line, " [repeated ");
  if (folded != std::string_view::npos && folded >= from) {
    Cursor cursor(line.substr(folded + 11));
    std::uint16_t times = 1;
    if (cursor.number(times) && cursor.eat("x across cluster")) {
      record.repeats = times;
      record.line = line.substr(0, folded);
    }
  }
  if (!is_torn && parse_bare(record, wrapping, false)) {
    continues_ = may_go_on(record);
    continued_speaker_ = record.speaker;
    close_record();
    return;
  }
  const Parsed parsed = parse_plain_text(record.text(), record);
  record.is_torn |= parsed == Parsed::Broken;
  if (record.kind == RecordKind::Text && !is_torn) parse_bare(record, wrapping, true);
  if (record.kind == RecordKind::Text && is_paste_) parse_inside(record);
  if (record.kind == RecordKind::Text) {
    if (is_torn) {
      record.kind = RecordKind::Fragment;
      count_unparsed(record);
    } else if (continues_ && torch.severity == 0) {
      record.kind = RecordKind::Continuation;
      record.speaker = continued_speaker_;
    }
  }
  continues_ = record.kind == RecordKind::Continuation;
  close_record();
}

void LineParser::count_unparsed(const Record& record) {
  unparsed_.add(record.text(), record.place);
}

ParseCounts& ParseCounts::operator+=(const ParseCounts& other) {
  bytes += other.bytes;
  lines += other.lines;
  torn += other.torn;
  overlong += other.overlong;
  binary += other.binary;
  for (std::size_t i = 0; i < records.size(); ++i) records[i] += other.records[i];
  return *this;
}

}  // namespace ringside::logs
