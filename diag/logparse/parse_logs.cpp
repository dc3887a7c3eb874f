#include "diag/logparse/parse_logs.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "base/text_parts.h"
#include "diag/logparse/byte_source.h"
#include "diag/logparse/line_parser.h"
#include "diag/logparse/line_reader.h"
#include "diag/logparse/paste.h"

namespace ringside::logs {
namespace {

constexpr std::size_t kBlock = 64 << 10;  ///< bytes that a reader fills at a time

/// Returns whether a line is inside JSON that spans many lines: it has a key and an unclosed bracket, or consists of
/// numbers and brackets.
bool is_inside_json(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (last == std::string_view::npos) return false;
  line = line.substr(0, last + 1);
  const std::size_t first = line.find_first_not_of(" \t");
  line.remove_prefix(first);
  if (contains(line, "\":")) {
    const bool is_whole = line.back() == '}' && contains(line, '{');
    return !is_whole;
  }
  return line.find_first_not_of("0123456789.+-eE,[]{}") == std::string_view::npos;
}

/// Returns where to cut a large file: at `wanted`, or after the multi-line JSON report around it, which one reader
/// must read as a whole.
/// wanted   bytes from the start of an uncompressed file
/// returns  `wanted` also if the file cannot be read, or if the report does not end within kMaxReport bytes
std::uint64_t place_to_cut(const std::string& file, std::uint64_t wanted) {
  constexpr int kClear = 32;  // lines of other ranks may be between those of a report
  auto source = open_source(file, wanted);
  if (!source) return wanted;
  std::vector<char> buffer;
  std::uint64_t at = wanted;  // file offset of the buffer
  std::uint64_t clear_from = wanted;
  int clear = 0;
  bool is_first = true;  // the line that contains `wanted` belongs to the part before it
  while (at - wanted < kMaxReport) {
    const std::size_t carried = buffer.size();
    if (carried > kMaxLine) return wanted;
    buffer.resize(carried + kBlock);
    const auto got = (*source)->read({buffer.data() + carried, kBlock});
    if (!got || *got == 0) return clear_from;
    buffer.resize(carried + *got);
    std::string_view rest(buffer.data(), buffer.size());
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;) {
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (!is_first && is_inside_json(line)) {
        clear = 0;
        clear_from = at + static_cast<std::uint64_t>(rest.data() - buffer.data());
      } else if (++clear >= kClear) {
        return clear_from;
      }
      is_first = false;
    }
    const std::size_t done = buffer.size() - rest.size();
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(done));
    at += done;
  }
  return wanted;
}

/// A file, or a part of one.
struct PlannedPiece {
  std::uint32_t file = 0;
  LineRange range;
};

/// The assignment of pieces to shards: shard s reads pieces [first[s], first[s + 1]).
struct Plan {
  std::vector<PlannedPiece> pieces;
  std::vector<std::size_t> first;
};

/// Returns a file's size, estimated for compressed files.
std::uint64_t weight_of(const LogFile& file) {
  return file.size.value * (file.compression == Compression::None ? 1 : 8);
}

/// Distributes the input in order, so that each shard gets an equal amount. Large files are cut if each piece is large
/// enough for a thread.
Plan make_plan(const LogFiles& files, std::size_t shards) {
  constexpr std::uint64_t kLeastPiece = 1 << 20;
  std::uint64_t total = 0;
  for (const LogFile& file : files.files) total += weight_of(file);
  const std::uint64_t share = std::max(kLeastPiece, total / shards + 1);
  Plan plan;
  plan.first.push_back(0);
  std::uint64_t done = 0;
  const auto end_of_shard = [&] { return plan.first.size() * share; };
  const auto next_shard = [&] { plan.first.push_back(plan.pieces.size()); };
  for (std::uint32_t f = 0; f < files.files.size(); ++f) {
    const LogFile& file = files.files[f];
    const std::uint64_t weight = weight_of(file);
    const bool may_cut = !file.is_stream && file.compression == Compression::None;
    // An uncut file goes to the shard that contains its middle.
    while (!may_cut && plan.first.size() < shards && done + weight / 2 >= end_of_shard())
      next_shard();
    std::uint64_t begin = 0;
    while (may_cut && plan.first.size() < shards &&
           done + weight > end_of_shard() + kLeastPiece / 2) {
      const std::uint64_t even = end_of_shard() > done ? end_of_shard() - done : 0;
      const std::uint64_t cut = even > begin ? place_to_cut(file.name, even) : begin;
      if (cut > begin) plan.pieces.push_back({f, {begin, cut}});
      begin = cut;
      next_shard();
    }
    plan.pieces.push_back({f, {begin, LineRange::kEnd}});
    done += weight;
  }
  while (plan.first.size() <= shards) next_shard();
  return plan;
}

/// The result of one worker.
struct ShardResult {
  ParseCounts counts;
  UnparsedShapes unparsed;
  std::vector<std::pair<std::size_t, Error>> problems;  ///< index of the piece, and its error
};

/// A source for text in memory.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  Result<std::size_t> read(std::span<char> room) override {
    const std::size_t size = std::min(room.size(), text_.size());
    if (size > 0) std::memcpy(room.data(), text_.data(), size);
    text_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view text_;
};

/// Parses a whole text; a paste is normalised first.
/// lines  receives the number of its lines
void parse_whole(std::string_view text, LineReader& reader, LineParser& parser,
                 std::uint64_t& lines) {
  if (text.size() > kMaxPaste || is_as_written(text)) {
    TextSource source(text);
    const Status read = reader.read(
        source, {}, parser, [](std::size_t) { return true; }, lines);
    RINGSIDE_ASSERT(read.has_value(), "memory does not fail");
    return;
  }
  lines = 0;
  parser.counts().bytes += text.size();
  for (const RestoredLine& line : restore_paste(text)) {
    constexpr std::string_view kControls("\0\r\x1b", 3);
    const bool is_odd = line.text.find_first_of(kControls) != std::string::npos;
    parser.parse_restored(line, is_odd);
    lines = line.number + line.lines;
  }
}

/// The first bytes of a source, followed by the rest.
class SourceBehind : public ByteSource {
 public:
  SourceBehind(std::string_view head, ByteSource& rest) : head_(head), rest_(rest) {}
  Result<std::size_t> read(std::span<char> room) override {
    if (head_.empty()) return rest_.read(room);
    const std::size_t size = std::min(room.size(), head_.size());
    std::memcpy(room.data(), head_.data(), size);
    head_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view head_;
  ByteSource& rest_;
};

/// Reads a source to its end, or until it is larger than a paste.
/// returns  whether it ended; `status` receives its error, if any
bool read_head(ByteSource& source, std::string& head, Status& status) {
  head.resize(kMaxPaste + 1);
  std::size_t size = 0;
  while (size < head.size()) {
    const Result<std::size_t> got = source.read({head.data() + size, head.size() - size});
    if (!got) status = got.error();
    if (!got || *got == 0) break;
    size += *got;
  }
  const bool has_ended = size < head.size();
  head.resize(size);
  return has_ended;
}

class Run {
 public:
  Run(const LogFiles& files, std::span<RecordSink* const> sinks, const ParseOptions& options)
      : files_(files),
        sinks_(sinks),
        options_(options),
        plan_(make_plan(files, sinks.size())),
        lines_(plan_.pieces.size()),
        results_(sinks.size()) {}

  Result<ParseReport> execute() {
    {
      std::vector<std::jthread> workers;
      for (std::size_t shard = 1; shard < sinks_.size(); ++shard) {
        if (plan_.first[shard] < plan_.first[shard + 1]) {
          workers.emplace_back([this, shard] { parse_shard(shard); });
        }
      }
      parse_shard(0);
    }
    if (options_.stop.stop_requested())
      return Error{ErrorCode::Aborted, "reading the logs was stopped"};
    return report();
  }

 private:
  void parse_shard(std::size_t shard) {
    LineReader reader;
    LineParser parser(*sinks_[shard]);
    ShardResult& result = results_[shard];
    std::string head;  // reused for each file, to keep its memory
    for (std::size_t p = plan_.first[shard]; p < plan_.first[shard + 1]; ++p) {
      if (options_.stop.stop_requested()) break;
      const PlannedPiece& piece = plan_.pieces[p];
      const LogFile& file = files_.files[piece.file];
      parser.begin(static_cast<std::uint32_t>(p), piece.file, file.name);
      const std::uint64_t from = piece.range.begin > 0 ? piece.range.begin - 1 : 0;
      auto source = open_source(file.name, from);
      if (!source) {
        result.problems.emplace_back(p, source.error());
        continue;
      }
      const bool is_plain = file.compression == Compression::None;
      const auto progress = [&](std::size_t size) { return advance(is_plain ? size : 0); };
      const bool is_whole = piece.range.begin == 0 && piece.range.end == LineRange::kEnd;
      const bool may_be_paste = is_whole && (file.is_stream || file.size.value <= kMaxPaste);
      Status read;
      if (!may_be_paste) {
        read = reader.read(**source, piece.range, parser, progress, lines_[p]);
      } else if (read_head(**source, head, read)) {
        parse_whole(head, reader, parser, lines_[p]);
        parser.flush();
        progress(head.size());
      } else {
        SourceBehind whole(head, **source);
        read = reader.read(whole, piece.range, parser, progress, lines_[p]);
      }
      if (!is_plain) advance(file.size.value);
      if (!read && read.error().code != ErrorCode::Aborted)
        result.problems.emplace_back(p, read.error());
    }
    parser.finish();
    result.counts = parser.counts();
    result.unparsed = parser.unparsed();
  }

  bool advance(std::size_t size) {
    const std::uint64_t done = done_.fetch_add(size, std::memory_order_relaxed) + size;
    if (options_.progress) options_.progress(Bytes{done});
    return !options_.stop.stop_requested();
  }

  ParseReport report() {
    ParseReport report;
    UnparsedShapes unparsed;
    for (const ShardResult& result : results_) {
      report.counts += result.counts;
      unparsed.merge(result.unparsed);
      for (const auto& [piece, error] : result.problems) {
        report.problems.push_back(
            {files_.files[plan_.pieces[piece].file].name, error.message, error.help});
      }
    }
    report.unparsed = unparsed.sorted();
    std::uint64_t line = 1;
    for (std::size_t p = 0; p < plan_.pieces.size(); ++p) {
      if (plan_.pieces[p].range.begin == 0) line = 1;
      report.pieces.push_back({plan_.pieces[p].file, line});
      line += lines_[p];
    }
    return report;
  }

  const LogFiles& files_;
  std::span<RecordSink* const> sinks_;
  const ParseOptions& options_;
  Plan plan_;
  std::vector<std::uint64_t> lines_;
  std::vector<ShardResult> results_;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace

FileLine ParseReport::where(Place place) const {
  RINGSIDE_ASSERT(place.piece < pieces.size(), "piece {} of {}", place.piece, pieces.size());
  const Piece& piece = pieces[place.piece];
  return {piece.file, piece.first_line + place.line};
}

Result<ParseReport> parse_logs(const LogFiles& files, std::span<RecordSink* const> sinks,
                               const ParseOptions& options) {
  RINGSIDE_ASSERT(!sinks.empty() && sinks.size() <= 256, "{} sinks", sinks.size());
  return Run(files, sinks, options).execute();
}

ParseReport parse_text(std::string_view text, RecordSink& sink) {
  LineReader reader;
  LineParser parser(sink);
  std::uint64_t lines = 0;
  parser.begin(0, 0, "text");
  parse_whole(text, reader, parser, lines);
  parser.finish();
  ParseReport report;
  report.counts = parser.counts();
  report.unparsed = parser.unparsed().sorted();
  report.pieces.push_back({0, 1});
  return report;
}

}  // namespace ringside::logs
