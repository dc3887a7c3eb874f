#include "diag/logparse/cursor.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

/// After `NET/IB : Using `: a list, ` [RO]`, `; OOB eth0:10.1.0.1<0>`.
Parsed devices(std::string_view net, Cursor cursor, Record& record) {
  NetDevices found;
  found.net = net;
  std::string_view list = cursor.rest();
  const std::size_t oob = list.find("; OOB ");
  if (oob != std::string_view::npos) {
    found.oob = trimmed(list.substr(oob + 6));
    list = list.substr(0, oob);
  }
  list = trimmed(list);
  if (list.ends_with("[RO]")) {
    found.relaxed_ordering = true;
    list = trimmed_right(list.substr(0, list.size() - 4));
  }
  if (!list.empty() && list.front() != '[') return Parsed::No;
  found.list = list;
  record.make<NetDevices>() = found;
  return Parsed::Open;
}

bool take_hca_name(Cursor& cursor, GdrOfHca& gdr) {
  if (!cursor.number(gdr.hca)) return false;
  cursor.skip_blanks();
  if (!cursor.eat('\'')) return true;
  std::string_view name;
  if (cursor.until('\'', name)) {
    gdr.name = name;
  } else {  // HPC-X omits the closing quote
    gdr.name = trimmed(cursor.rest());
    cursor.skip(cursor.left());
  }
  return true;
}

/// After `GPU Direct RDMA `: `Enabled for HCA 0 'mlx5_0' (no module)`.
Parsed gdr_of_hca(std::string_view net, Cursor cursor, Record& record) {
  GdrOfHca gdr;
  gdr.net = net;
  if (cursor.eat("Enabled for HCA ")) {
    gdr.is_enabled = true;
  } else if (cursor.eat('(')) {
    if (!cursor.until(')', gdr.reason)) return Parsed::No;
    gdr.is_enabled = cursor.eat(" enabled for HCA ");
    if (!gdr.is_enabled && !cursor.eat(" disabled for HCA ")) return Parsed::No;
  } else if (!cursor.eat("Disabled for HCA ")) {
    return Parsed::No;
  }
  if (!take_hca_name(cursor, gdr)) return Parsed::Broken;
  gdr.is_module_missing = contains(cursor.rest(), "(no module");
  record.make<GdrOfHca>() = gdr;
  return Parsed::Open;
}

}  // namespace

Parsed parse_gdr(std::string_view text, Record& record) {
  Cursor cursor(text);
  if (!cursor.eat("GPU Direct RDMA ")) return Parsed::No;
  GdrOfPair pair;
  if (cursor.eat("Enabled for GPU")) {
    pair.is_enabled = true;
  } else if (!cursor.eat("Disabled for GPU")) {
    return Parsed::No;
  }
  if (!cursor.eat(' ')) cursor.eat('/');
  if (!cursor.word(pair.gpu)) return Parsed::Broken;
  if (cursor.eat(" (rank ")) {
    cursor.number(pair.rank);
    cursor.eat(')');
  }
  if (cursor.eat(" / HCA ") || cursor.eat(" - NET/")) cursor.word(pair.hca);
  std::string_view skipped;
  if (cursor.until("distance ", skipped)) {
    cursor.number(pair.distance);
    for (const std::string_view sign : {" <= ", " > ", " < ", " >= "}) {
      if (cursor.eat(sign)) break;
    }
    cursor.number(pair.limit);
    if (cursor.until("read ", skipped)) cursor.number(pair.read);
  }
  record.make<GdrOfPair>() = pair;
  return pair.distance < 0 ? Parsed::Broken : Parsed::Open;
}

Parsed parse_net(std::string_view text, Record& record) {
  Cursor cursor(text);
  std::string_view net;
  if (!cursor.eat("NET/") || !cursor.until(':', net)) return Parsed::No;
  net = trimmed_right(net);
  cursor.skip_blanks();
  if (cursor.eat("Using ")) return devices(net, cursor, record);
  if (cursor.eat("No device found.")) {
    NetDevices none;
    none.net = net;
    none.none_found = true;
    record.make<NetDevices>() = none;
    return cursor.is_done() ? Parsed::Whole : Parsed::Open;
  }
  const Cursor here = cursor;
  if (!cursor.eat("GPU Direct RDMA ")) return Parsed::No;
  const Parsed parsed = gdr_of_hca(net, cursor, record);
  return parsed == Parsed::No ? parse_gdr(here.rest(), record) : parsed;
}

/// `[0]mlx5_0:1/IB`, `[0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE}`, `[0]mlx5_0:1:<rail>:<plane>/IB/SHARP`,
/// `[0]eth0:10.1.0.1<0>`
bool NetDeviceCursor::next(NetDevice& device) {
  device = NetDevice{};
  Cursor cursor(rest_);
  const auto index = [&cursor](std::int32_t& number) {
    cursor.skip_blanks();
    return cursor.eat('[') && cursor.number(number) && cursor.eat(']');
  };
  while (cursor.eat(',') || cursor.eat(' ') || cursor.eat('}')) {
    if (*(cursor.at() - 1) == '}') merged_ = -1;
  }
  if (!index(device.index)) return false;
  if (cursor.eat("={") || cursor.eat('{')) {
    merged_ = device.index;
    if (!index(device.index)) return false;
  }
  device.merged = merged_;
  cursor.skip_blanks();
  if (!cursor.until(':', device.name)) return false;
  const char* const begin = cursor.at();
  while (!cursor.is_done() && cursor.peek() != ' ' && cursor.peek() != ',' &&
         cursor.peek() != '}') {
    cursor.skip(1);
  }
  std::string_view tail(begin, static_cast<std::size_t>(cursor.at() - begin));
  rest_ = cursor.rest();
  const std::size_t slash = tail.find('/');
  if (slash == std::string_view::npos || contains(tail, '<')) {
    device.link = tail;
    return true;
  }
  device.link = tail.substr(slash + 1);
  device.link = device.link.substr(0, device.link.find('/'));
  Cursor numbers(tail.substr(0, slash));
  if (!numbers.number(device.port)) return true;
  if (!numbers.eat(':')) return true;
  const std::string_view more = numbers.rest();
  const std::size_t colon = more.find(':');
  device.rail = more.substr(0, colon);
  if (colon != std::string_view::npos) device.plane = more.substr(colon + 1);
  return true;
}

}  // namespace ringside::logs
