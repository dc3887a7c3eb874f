#include "diag/facts/call_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "diag/logparse/cursor.h"

namespace ringside::facts {
namespace {

using logs::is_digit;
using logs::is_letter;
using std::string_view;

struct KeyName {
  string_view word;
  Key key;
};

// `src` and `dst` mean the root of a rooted call, and the peer of a transfer.
constexpr KeyName kKeys[] = {
    {"rank", Key::Rank},
    {"globalrank", Key::Rank},
    {"workerrank", Key::Rank},
    {"worldrank", Key::Rank},
    {"seq", Key::Sequence},
    {"sequence", Key::Sequence},
    {"seqnum", Key::Sequence},
    {"seqno", Key::Sequence},
    {"seqid", Key::Sequence},
    {"collseq", Key::Sequence},
    {"sequenceid", Key::Sequence},
    {"collseqid", Key::Sequence},
    {"collectiveseqid", Key::Sequence},
    {"p2pseqid", Key::Sequence},
    {"opcount", Key::Sequence},
    {"opid", Key::Sequence},
    {"callid", Key::Sequence},
    {"callno", Key::Sequence},
    {"opseq", Key::Sequence},
    {"step", Key::Step},
    {"globalstep", Key::Step},
    {"iter", Key::Step},
    {"iteration", Key::Step},
    {"it", Key::Step},
    {"round", Key::Step},
    {"microbatch", Key::Step},
    {"mb", Key::Step},
    {"batch", Key::Step},
    {"layer", Key::Step},
    {"n", Key::Count},
    {"numel", Key::Count},
    {"count", Key::Count},
    {"nelem", Key::Count},
    {"nelems", Key::Count},
    {"numelem", Key::Count},
    {"numelin", Key::Count},
    {"len", Key::Count},
    {"length", Key::Count},
    {"size", Key::Count},
    {"bytes", Key::Count},
    {"nbytes", Key::Count},
    {"elems", Key::Count},
    {"elements", Key::Count},
    {"shape", Key::Shape},
    {"shapes", Key::Shape},
    {"dims", Key::Shape},
    {"dtype", Key::DType},
    {"datatype", Key::DType},
    {"root", Key::Root},
    {"to", Key::To},
    {"dst", Key::To},
    {"dest", Key::To},
    {"destination", Key::To},
    {"target", Key::To},
    {"from", Key::From},
    {"src", Key::From},
    {"source", Key::From},
    {"peer", Key::Peer},
    {"partner", Key::Peer},
    {"with", Key::Peer},
    {"tag", Key::Tag},
    {"group", Key::Group},
    {"pg", Key::Group},
    {"comm", Key::Group},
    {"communicator", Key::Group},
    {"mesh", Key::Group},
    {"axis", Key::Group},
    {"processgroup", Key::Group},
    {"groupname", Key::Group},
    {"pgname", Key::Group},
};

constexpr string_view kDtypeWords[] = {
    "bf16",    "bfloat16", "fp16", "float16", "half", "fp32",  "float32", "float", "fp64",
    "float64", "double",   "int8", "uint8",   "int",  "int32", "int64",   "long",  "bool",
    "fp8",     "float8",   "char", "byte",    "f16",  "f32",   "f64",     "i32",   "i64"};
constexpr string_view kUnits[] = {"floats", "doubles", "elements", "elems",  "bytes",
                                  "b",      "ints",    "rows",     "values", "items",
                                  "words",  "numbers", "element"};
/// Units of sizes in bytes, with 2^10 steps as in nccl-tests.
constexpr std::pair<string_view, std::int64_t> kByteUnits[] = {
    {"kb", 1 << 10},  {"mb", 1 << 20},  {"gb", 1 << 30}, {"kib", 1 << 10},
    {"mib", 1 << 20}, {"gib", 1 << 30}, {"k", 1 << 10},  {"m", 1 << 20}};
constexpr string_view kOpen[] = {"started", "scheduled", "pending",  "running",   "enqueued",
                                 "active",  "waiting",   "inflight", "blocked",   "stuck",
                                 "hanging", "waits",     "hangs",    "incomplete"};
constexpr string_view kBegin[] = {
    "enter", "entering", "entered",   "before",   "begin",   "begins", "beginning", "calling",
    "calls", "start",    "starts",    "starting", "issuing", "issue",  "posting",   "posted",
    "post",  "launch",   "launching", "reached",  "called",  "joining"};
constexpr string_view kEnd[] = {
    "completed", "complete", "done",   "finished", "ended",  "returned", "return", "exit",
    "exited",    "exiting",  "leave",  "leaving",  "left",   "after",    "end",    "ok",
    "success",   "retired",  "passed", "through",  "finish", "returns"};
constexpr string_view kNegations[] = {
    "not",     "never",    "without", "except", "missing", "skip",   "skips",
    "skipped", "skipping", "instead", "should", "would",   "could",  "must",
    "may",     "might",    "if",      "why",    "cannot",  "nobody", "timeout"};
/// Words that may occur between the others without changing the meaning.
constexpr string_view kFillers[] = {
    "last",      "op",          "call",     "collective", "state",  "status", "event", "in",
    "the",       "current",     "for",      "of",         "at",     "on",     "into",  "ts",
    "t",         "time",        "dist",     "torch",      "nccl",   "gloo",   "mpi",   "worker",
    "proc",      "process",     "stage",    "async",      "trace",  "info",   "debug", "type",
    "kind",      "name",        "phase",    "is",         "now",    "next",   "entry", "coll",
    "d",         "distributed", "c10d",     "id",         "no",     "number", "pid",   "local",
    "localrank", "line",        "blocking", "function",   "fn",     "opname", "gpu",   "node",
    "host",      "thread",      "port",     "device",     "cuda",   "hca",    "fd",    "socket",
    "version",   "input",       "inputs",   "tensor",     "tensors"};

constexpr bool holds(std::span<const string_view> words, string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns whether the word is a name that programs give their groups: `dp`, `tp0`, `world`, `data_parallel`.
bool is_group_name(string_view word) {
  constexpr string_view kNames[] = {"dp",  "tp",      "pp",     "ep",    "cp",    "sp",
                                    "mp",  "fsdp",    "ddp",    "world", "intra", "inter",
                                    "dcp", "default", "global", "embd",  "edp",   "etp"};
  const std::size_t end = word.find_first_of("0123456789_");
  return holds(kNames, word.substr(0, end)) || word == "commworld" || word == "mpicommworld";
}

}  // namespace

Key key_of(string_view word) {
  std::string plain;
  for (const char c : word) {
    if (c != '_') plain += c;
  }
  for (const KeyName& one : kKeys) {
    if (one.word == plain) return one.key;
  }
  return Key::None;
}

WordKind kind_of_word(string_view word) {
  if (holds(kNegations, word)) return WordKind::Negation;
  if (holds(kOpen, word)) return WordKind::Open;
  if (holds(kBegin, word)) return WordKind::Begin;
  if (holds(kEnd, word)) return WordKind::End;
  if (holds(kDtypeWords, word)) return WordKind::Type;
  if (is_group_name(word)) return WordKind::Group;
  return holds(kFillers, word) ? WordKind::Filler : WordKind::Other;
}

std::int64_t unit_of_count(string_view word) {
  if (holds(kUnits, word)) return 1;
  for (const auto& [unit, bytes] : kByteUnits) {
    if (word == unit) return bytes;
  }
  return 0;
}

bool is_operation(string_view word) {
  std::string letters;
  for (const char c : word) {
    if (c != '_' && c != '-') letters += c;
  }
  for (const string_view prefix : {"pmpi", "mpi", "nccl", "ompi", "dist", "c10d"}) {
    if (letters.starts_with(prefix) && letters.size() > prefix.size() + 3)
      letters.erase(0, prefix.size());
  }
  constexpr string_view kLong[] = {"allreduce",  "allgather",  "reducescatter",   "alltoall",
                                   "iallreduce", "iallgather", "monitoredbarrier"};
  for (const string_view name : kLong) {
    if (letters.starts_with(name)) return true;
  }
  constexpr string_view kShort[] = {"broadcast", "bcast",   "ibcast",  "reduce",   "ireduce",
                                    "gather",    "scatter", "barrier", "ibarrier", "send",
                                    "ssend",     "isend",   "bsend",   "rsend",    "issend",
                                    "recv",      "irecv",   "receive"};
  constexpr string_view kRest[] = {"",           "forward",    "backward",  "tensor", "object",
                                   "async",      "objectlist", "coalesced", "fwd",    "bwd",
                                   "next",       "prev",       "op",        "oop",    "anysource",
                                   "tensorlist", "objects",    "v"};
  for (const string_view name : kShort) {
    if (letters.starts_with(name) && holds(kRest, string_view(letters).substr(name.size())))
      return true;
  }
  return false;
}

std::int64_t whole_number(string_view digits) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? number : -1;
}

std::vector<Token> tokens_of(string_view text) {
  constexpr std::size_t kMost = 120;
  std::vector<Token> tokens;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size() && tokens.size() < kMost;) {
    const char c = text[at];
    const std::size_t begin = at;
    Token one;
    if (is_letter(c) || c == '_') {
      const auto is_of_word = [&](std::size_t i) {
        return i < text.size() && (is_letter(text[i]) || is_digit(text[i]) || text[i] == '_');
      };
      while (is_of_word(at) || (at < text.size() && text[at] == '.' && is_of_word(at + 1))) ++at;
      one.is = Token::Is::Word;
      // `layers.3.attn.weight` is one word; of `dist.recv` and `torch.bfloat16` the last part is used.
      const std::size_t dot = text.substr(begin, at - begin).rfind('.');
      const string_view last = dot == string_view::npos
                                   ? string_view()
                                   : text.substr(begin + dot + 1, at - begin - dot - 1);
      if (is_operation(last) || holds(kDtypeWords, last) || last == "size") {
        one.text = last;
      }
    } else if (text.substr(at).starts_with("0x")) {
      at += 2;
      while (at < text.size() && logs::kHexDigits[static_cast<unsigned char>(text[at])] < 16) ++at;
      one.is = Token::Is::Real;  // an address
    } else if (is_digit(c)) {
      while (at < text.size() && is_digit(text[at])) ++at;
      one.is = Token::Is::Number;
      const bool is_real = at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1]);
      if (is_real) {
        ++at;
        while (at < text.size() && is_digit(text[at])) ++at;
        one.is = Token::Is::Real;
      }
      if (!is_real) one.number = whole_number(text.substr(begin, at - begin));
    } else if (text.substr(at).starts_with("->") || text.substr(at).starts_with("=>") ||
               text.substr(at).starts_with(">>")) {
      at += 2;
      one.is = Token::Is::Begin;
    } else if (text.substr(at).starts_with("<-") || text.substr(at).starts_with("<=") ||
               text.substr(at).starts_with("<<")) {
      at += 2;
      one.is = Token::Is::End;
    } else {
      ++at;
      if (c == ' ' || c == '\t' || c == '"' || c == '\'' || c == '`') continue;
    }
    if (one.text.empty()) one.text = text.substr(begin, at - begin);
    one.is_glued = begin == end && !tokens.empty();
    one.at = at - one.text.size();
    end = at;
    tokens.push_back(one);
  }
  return tokens;
}

}  // namespace ringside::facts
