#pragma once

#include <string_view>

#include "diag/logparse/record.h"

/// The parsers of single texts. Each sets the record to one of its kinds, or leaves it unchanged.
namespace ringside::logs {

enum class Parsed : std::uint8_t {
  No,     ///< not a line of this parser
  Open,   ///< understood, and its end is free text: another line may begin in it
  Whole,  ///< understood to its last character
  Broken  ///< partly understood: it ends too early, or continues with a foreign text
};

/// Parses the text after ` NCCL INFO ` and the like. Tries all parsers below, then the catalogue.
Parsed parse_nccl_text(std::string_view text, Level level, Record& record);

/// Whether lines without a prefix after this one may belong to it.
bool may_go_on(const Record& record);

/// Parses a line without that prefix, after wrappers and PyTorch's prefixes, without leading blanks.
Parsed parse_plain_text(std::string_view text, Record& record);

Parsed parse_channel(std::string_view text,
                     Record& record);  ///< `Channel `, `Ring `, `CollNet `, `Coll `
Parsed parse_tree(std::string_view text,
                  Record& record);  ///< `Tree`, `NVLS Trees`, `Collnet Chains`
Parsed parse_connected(std::string_view text, Record& record);  ///< `Connected `
Parsed parse_comm(std::string_view text, Record& record);       ///< `comm 0x`, `nccl.. comm 0x`
Parsed parse_init(std::string_view text, Record& record);  ///< timings, counts, bootstrap, network
Parsed parse_environment(std::string_view text, Record& record);  ///< `NCCL_X set by environment`
/// Like parse_environment(), without the library's prefix before it: only that sentence, as a program's own words are
/// many.
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

/// A text that begins with the words of a message of the catalogue, eight characters of them or more.
bool begins_message(std::string_view text);

struct TextFields;

/// Like parse_channel() and parse_call(), and records which parts of the text are fields of the record.
/// shape  texts of at most 255 characters; the fields are valid only if the text is Whole
Parsed note_channel(std::string_view text, Record& record, TextFields& fields);
Parsed note_call(std::string_view text, Record& record, TextFields& fields);

}  // namespace ringside::logs
