#pragma once

#include <string_view>

#include "diag/logparse/record.h"

/// The parsers of a line's text. Each sets `record` to a kind of record, or returns Parsed::No and leaves it unchanged.
/// A line that is Parsed::Broken may have too little for a record: then `record` is unchanged, too.
namespace ringside::logs {

/// How much of a line a parser has understood.
enum class Parsed : std::uint8_t {
  No,     ///< not a line of this parser
  Open,   ///< understood; it ends with free text, in which another line may begin
  Whole,  ///< understood to its last character
  Broken  ///< partly understood: it ends early, or continues with text of another line
};

/// Parses the text after an NCCL prefix such as ` NCCL INFO `. Tries all parsers below, then the catalogue.
Parsed parse_nccl_text(std::string_view text, Level level, Record& record);

/// Returns whether following lines without a prefix may belong to this record.
bool may_go_on(const Record& record);

/// Parses a line without an NCCL prefix.
/// text  the line without launchers' and PyTorch's prefixes and without leading blanks
Parsed parse_plain_text(std::string_view text, Record& record);

Parsed parse_channel(std::string_view text,
                     Record& record);  ///< `Channel `, `Ring `, `CollNet `, `Coll `
Parsed parse_tree(std::string_view text,
                  Record& record);  ///< `Tree`, `NVLS Trees`, `Collnet Chains`
Parsed parse_connected(std::string_view text, Record& record);  ///< `Connected `
Parsed parse_comm(std::string_view text, Record& record);       ///< `comm 0x`, `nccl.. comm 0x`
Parsed parse_init(std::string_view text, Record& record);  ///< timings, counts, bootstrap, network
Parsed parse_environment(std::string_view text, Record& record);  ///< `NCCL_X set by environment`
/// Parses a variable in a line without NCCL's prefix. Accepts only NCCL's sentence, because programs print similar
/// text.
Parsed parse_echo(std::string_view text, Record& record);
Parsed parse_shell_variable(std::string_view text, Record& record);  ///< `+ export NCCL_X=y`
Parsed parse_version(std::string_view text, Record& record);   ///< `NCCL version`, `RCCL version`
Parsed parse_net(std::string_view text, Record& record);       ///< `NET/`
Parsed parse_gdr(std::string_view text, Record& record);       ///< `GPU Direct RDMA`
Parsed parse_topology(std::string_view text, Record& record);  ///< the dumps of GRAPH
Parsed parse_call(std::string_view text,
                  Record& record);  ///< `AllReduce: opCount`, `.. Bytes -> ..`
Parsed parse_api_call(std::string_view text, Record& record);   ///< level CALL
Parsed parse_result(std::string_view text, Record& record);     ///< `file:line -> code`
Parsed parse_benchmark(std::string_view text, Record& record);  ///< nccl-tests
Parsed parse_xid(std::string_view text, Record& record);        ///< `NVRM: Xid`, `SXid`
Parsed parse_python(std::string_view text, Record& record);     ///< tracebacks and their last line
Parsed parse_ras(std::string_view text, Record& record);        ///< rows and ranks of ncclras
Parsed parse_message(std::string_view text, Record& record);    ///< the catalogue

/// Returns whether a text begins with at least eight characters of a message of the catalogue.
bool begins_message(std::string_view text);

struct TextFields;

/// Parse like parse_channel() and parse_call(), and also store which characters of the text are fields of the record.
/// shape  texts of at most 255 characters; the fields are valid only if the text is Whole
Parsed note_channel(std::string_view text, Record& record, TextFields& fields);
Parsed note_call(std::string_view text, Record& record, TextFields& fields);

}  // namespace ringside::logs
