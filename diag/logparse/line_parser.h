#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/known_lines.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/parse_logs.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/speaker_table.h"
#include "diag/logparse/unparsed.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {

/// Lines -> records, of one shard: unwraps a line, finds the beginnings in it, parses what stands behind each,
/// and hands the records on in batches.
///
/// Ordering   lines come in order; parse() may hand records on only later, flush() hands on all
/// Threads    one
/// Ownership  a line's bytes stay where they are until the next flush()
class LineParser {
 public:
  explicit LineParser(RecordSink& sink);

  /// A new piece of input begins: what the last one left open is closed.
  void begin(std::uint32_t piece, std::uint32_t file, std::string_view path);

  /// One line without its '\n'. `is_odd`: it has control characters. `is_cut`: its end is left out.
  void parse(std::string_view line, std::uint32_t number, bool is_odd, bool is_cut);

  /// The same for a line of a paste; its bytes need not stay.
  void parse_mended(const MendedLine& line, bool is_odd);

  /// Who wrote the next lines, as far as they do not say it themselves: a host, empty for none, and a rank, -1 for none.
  void begin_part(std::string_view host, std::int32_t rank);

  /// Lines that follow each other, the first of them with that number.
  /// begin  where the first one starts
  /// ends   as find_line_ends() has them, counted from `block`
  /// shape  Blocks::kSlack characters can be read behind the last line
  void parse_lines(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                   std::uint32_t number);

  /// Hands on what is collected. The lines' bytes may move after it.
  void flush();

  /// The input ends: what was left open is closed, and all is handed on.
  void finish();

  [[nodiscard]] ParseCounts& counts() { return counts_; }
  [[nodiscard]] const UnparsedShapes& unparsed() const { return unparsed_; }

 private:
  /// Where a word is next in a line that is parsed piece by piece: its rest is not searched for each piece.
  struct Sought {
    const char* at = nullptr;   ///< `end`: nowhere
    const char* end = nullptr;  ///< of that line
  };
  static constexpr std::size_t kBatch = 64;  ///< ten KiB: they stay in the first cache

  Record& open_record(std::string_view line, std::size_t text_at);
  void close_record();
  void finish_text(Record& record, Parsed parsed);
  void hand_on();
  bool parse_known(std::string_view line, std::uint32_t number);
  void parse_line(std::string_view line, std::uint32_t number, bool is_odd);
  void parse_with_prefix(std::string_view line, const LineMatch& match);
  void learn_prefix(std::string_view line, const NcclPrefix& prefix, std::uint32_t speaker);
  void parse_clean(std::string_view line);
  std::string_view parse_first(std::string_view line);
  void parse_odd(std::string_view line);
  void parse_json(const std::string& text, std::int64_t time_us);
  void join_partial(std::string_view text, bool goes_on);
  std::string_view parse_texts(std::string_view line, NcclPrefix prefix, std::uint32_t speaker,
                               const Wrapping& wrapping);
  std::string_view parse_beginnings(std::string_view line, std::size_t from, NcclPrefix prefix,
                                    const Wrapping& wrapping);
  void parse_inside(Record& record);
  bool parse_bare(Record& record, const Wrapping& wrapping, bool is_place_alone);
  void parse_plain(std::string_view line, std::size_t from, const Wrapping& wrapping, bool is_torn);
  void follow_traceback(const Wrapping& wrapping, std::string_view text, Record& record);
  static std::size_t find_once(std::string_view line, std::string_view word, std::size_t from,
                               Sought& sought);
  bool find_second(std::string_view line, std::size_t from, NcclPrefix& next, std::size_t& end);
  void settle_host(std::string_view line, std::size_t from, NcclPrefix& prefix);
  void count_unparsed(const Record& record);
  std::uint32_t speaker_of(const NcclPrefix& prefix, const Wrapping& wrapping);
  std::uint32_t speaker_of(const Wrapping& wrapping);
  std::string_view kept(std::string_view text);

  RecordSink& sink_;
  SpeakerTable speakers_;
  ParseCounts counts_;
  UnparsedShapes unparsed_;
  std::unique_ptr<Record[]> batch_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<std::string>> kept_;  ///< lines that were rewritten, until flush()
  std::size_t kept_bytes_ = 0;

  Place place_;
  std::uint32_t file_ = 0;
  std::string path_;
  std::int64_t time_us_ = 0;  ///< of the JSON object or container line around this one
  bool is_cut_ = false;
  bool is_paste_ = false;         ///< this line is one of a paste
  std::string label_host_;        ///< that a label before it named, or a heading
  std::int32_t label_rank_ = -1;  ///< that a heading named
  std::string partial_;           ///< a container's line in pieces
  KnownLines known_;
  std::unique_ptr<LineMatch[]> matches_;  ///< of the lines that are parsed together
  std::span<LineMatch>
      matches_left_;               ///< from the line that is parsed on; empty: it is parsed alone
  const char* matched_ = nullptr;  ///< where that line starts
  bool continues_ = false;         ///< the last record may have more lines
  std::uint32_t continued_speaker_ = 0;
  std::uint32_t traceback_speaker_ = 0;  ///< whose tag the first line of a traceback has
  std::uint32_t traceback_left_ = 0;     ///< lines that it may still have
  Sought level_;                         ///< ` NCCL `
  Sought rank_;                          ///< `[rank`
};

}  // namespace ringside::logs
