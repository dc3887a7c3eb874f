#include "diag/logparse/topo_records.h"

#include "diag/logparse/cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

constexpr std::string_view kNodeTypes[] = {"GPU", "PCI", "NVS", "CPU", "NIC", "NET", "GIN"};

/// `GPU/0-1b000`: a node's type and id.
bool take_node(Cursor& cursor, std::string_view& type, std::string_view& id) {
  for (const std::string_view known : kNodeTypes) {
    const Cursor before = cursor;
    if (!cursor.eat(known)) continue;
    if (!cursor.eat('/')) {
      cursor = before;
      return false;
    }
    type = known;
    const char* const begin = cursor.at();
    while (!cursor.is_done() && cursor.peek() != ' ') cursor.skip(1);
    id = {begin, static_cast<std::size_t>(cursor.at() - begin)};
    return !id.empty();
  }
  return false;
}

Parsed system(Cursor cursor, Record& record) {
  TopoSystem found;
  if (!cursor.eat("=== System : max")) return Parsed::No;
  if (!cursor.eat("Bw ") && !cursor.eat("Width ")) return Parsed::No;
  cursor.real(found.max_bw);
  if (cursor.eat(" totalBw ") || cursor.eat(" totalWidth ")) cursor.real(found.total_bw);
  record.make<TopoSystem>() = found;
  return Parsed::Open;
}

Parsed node(std::int16_t indent, Cursor cursor, Record& record) {
  TopoNode found;
  found.indent = indent;
  if (cursor.eat("+ ")) {
    const char* const begin = cursor.at();
    while (is_letter(cursor.peek()) || is_digit(cursor.peek())) cursor.skip(1);
    found.link = {begin, static_cast<std::size_t>(cursor.at() - begin)};
    if (found.link.empty() || !cursor.eat('[') || !cursor.real(found.bw) || !cursor.eat("] - ")) {
      return Parsed::No;
    }
  }
  if (!take_node(cursor, found.type, found.id)) return Parsed::No;
  cursor.skip_blanks();
  if (cursor.eat('(') && !cursor.until(')', found.details)) return Parsed::Broken;
  cursor.skip_blanks();
  record.make<TopoNode>() = found;
  return cursor.is_done() ? Parsed::Whole : Parsed::Broken;
}

Parsed paths(Cursor cursor, Record& record) {
  TopoPaths found;
  if (!take_node(cursor, found.type, found.id) || !cursor.eat(" :")) return Parsed::No;
  found.list = trimmed(cursor.rest());
  record.make<TopoPaths>() = found;
  return Parsed::Open;
}

Parsed pattern(Cursor cursor, Record& record) {
  GraphPattern found;
  if (!cursor.eat("Pattern ") || !cursor.number(found.pattern)) return Parsed::No;
  if (!cursor.eat(", crossNic ") || !cursor.number(found.cross_nic)) return Parsed::Broken;
  if (!cursor.eat(", nChannels ") || !cursor.number(found.nchannels)) return Parsed::Broken;
  if (cursor.eat(", bw ") || cursor.eat(", speed ")) {
    cursor.real(found.bw_intra);
    if (cursor.eat('/')) cursor.real(found.bw_inter);
  }
  std::int32_t nvlink = 0;
  if (cursor.eat(", nvlink ")) cursor.number(nvlink);
  if (cursor.eat(", type ")) {
    const char* const begin = cursor.at();
    while (!cursor.is_done() && cursor.peek() != ',' && cursor.peek() != ' ') cursor.skip(1);
    const std::string_view types(begin, static_cast<std::size_t>(cursor.at() - begin));
    const std::size_t slash = types.find('/');
    found.type_intra = types.substr(0, slash);
    if (slash != std::string_view::npos) found.type_inter = types.substr(slash + 1);
  }
  if (cursor.eat(", sameChannels ")) cursor.number(found.same_channels);
  record.make<GraphPattern>() = found;
  return found.same_channels < 0 ? Parsed::Broken : Parsed::Open;
}

/// ` 0 : NET/0 GPU/0 GPU/1 NET/0`
Parsed graph_channel(Cursor cursor, Record& record) {
  GraphChannel found;
  if (!cursor.number(found.channel) || !cursor.eat(" : ")) return Parsed::No;
  std::string_view type;
  std::string_view id;
  found.list = trimmed(cursor.rest());
  if (!take_node(cursor, type, id)) return Parsed::No;
  record.make<GraphChannel>() = found;
  return Parsed::Open;
}

}  // namespace

Parsed parse_topology(std::string_view text, Record& record) {
  Cursor cursor(text);
  cursor.skip_blanks();
  const auto indent = static_cast<std::int16_t>(cursor.at() - text.data());
  switch (cursor.peek()) {
    case '=': {
      if (text.find_first_not_of('=') != std::string_view::npos) return system(cursor, record);
      if (text.size() < 20) return Parsed::No;
      record.make<TopoSystem>().is_end = true;
      return Parsed::Whole;
    }
    case 'P':
      if (cursor.rest().starts_with("Pattern ")) return pattern(cursor, record);
      break;
    case '+':
      return node(indent, cursor, record);
    default:
      if (is_digit(cursor.peek())) return graph_channel(cursor, record);
  }
  const Parsed parsed = paths(cursor, record);
  return parsed == Parsed::No ? node(indent, cursor, record) : parsed;
}

/// `GPU/1B000 (0/5000.0/LOC) `
bool TopoPathCursor::next(TopoPath& path) {
  Cursor cursor(rest_);
  path = TopoPath{};
  cursor.skip_blanks();
  if (!take_node(cursor, path.type, path.id) || !cursor.eat(" (") || !cursor.number(path.hops) ||
      !cursor.eat('/') || !cursor.real(path.bw) || !cursor.eat('/') ||
      !cursor.until(')', path.path)) {
    return false;
  }
  rest_ = cursor.rest();
  return true;
}

}  // namespace ringside::logs
