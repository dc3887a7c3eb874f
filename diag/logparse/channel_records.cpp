#include "diag/logparse/channel_records.h"

#include <array>

#include "diag/logparse/cursor.h"
#include "diag/logparse/noting_cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

/// ` comm 0x55 nRanks 16`, which RCCL appends; ` busId 1b000` may follow.
template <typename C, typename T>
void take_rccl_tail(C& cursor, T& record) {
  const C before = cursor;
  if (!cursor.eat(" comm ") || !cursor.hex(record.comm)) {
    cursor = before;
    return;
  }
  if (cursor.eat(" nRanks ")) {
    cursor.number(record.nranks);
    std::uint64_t bus = 0;
    if (cursor.eat(" busId ")) cursor.hex(bus);
  }
}

/// Accepts blanks, which may follow a complete line.
template <typename C>
Parsed ended(C& cursor) {
  cursor.skip_blanks();
  return cursor.is_done() ? Parsed::Whole : Parsed::Broken;
}

template <typename C>
bool take_bracket(C& cursor, std::uint64_t& id) {
  if (!cursor.eat('[')) return true;
  return cursor.hex(id) && cursor.eat(']');
}

/// `P2P/CUMEM/read`, after ` via `.
template <typename C>
bool take_p2p(C& cursor, ChannelEdge& edge) {
  if (cursor.eat("CUMEM")) {
    edge.via = Via::P2pCumem;
  } else if (cursor.eat("IPC")) {
    edge.via = Via::P2pIpc;
  } else if (cursor.eat("direct pointer")) {
    edge.via = Via::P2pDirect;
  } else if (cursor.eat("MNNVL")) {
    edge.via = Via::P2pMnnvl;
  } else if (cursor.eat("common device")) {
    edge.via = Via::P2pCommon;
  } else if (cursor.eat("indirect")) {
    edge.via = Via::P2pIndirect;
    std::int32_t through = -1;
    std::uint64_t id = 0;
    if (cursor.eat('/') && (!cursor.number(through) || !take_bracket(cursor, id))) return false;
  } else {
    return false;
  }
  if (cursor.eat("/read")) edge.read = true;
  if (cursor.eat("/CE")) edge.copy_engine = true;
  return true;
}

bool take_shm(Cursor& cursor, ChannelEdge& edge) {
  edge.via = Via::Shm;
  do {
    if (cursor.eat("CE")) {
      edge.copy_engine = true;
    } else if (!cursor.eat("direct")) {
      return false;
    }
  } while (cursor.eat('/'));
  return true;
}

/// `AWS Libfabric/1(3)/GDRDMA/Shared`: a name may have blanks; the first `/` with a digit after it ends it.
template <typename C>
bool take_net(C& cursor, ChannelEdge& edge) {
  const char* const begin = cursor.at();
  std::string_view part;
  do {
    if (!cursor.until('/', part)) return false;
  } while (!is_digit(cursor.peek()));
  edge.net = {begin, static_cast<std::size_t>(cursor.at() - begin - 1)};
  if (!cursor.number(edge.net_device)) return false;
  if (cursor.eat('(') && (!cursor.number(edge.proxy) || !cursor.eat(')'))) return false;
  while (cursor.peek() == '/') {
    if (cursor.eat("/GDRDMA")) {
      edge.gdr = true;
      if (cursor.eat("(PCI)")) edge.gdr_pci = true;
    } else if (cursor.eat("/Shared")) {
      edge.shared = true;
    } else {  // a word of a later version
      cursor.eat('/');
      if (!is_letter(cursor.peek())) return false;
      while (is_letter(cursor.peek())) cursor.skip(1);
    }
  }
  return true;
}

template <typename C>
bool take_via(C& cursor, ChannelEdge& edge) {
  if (cursor.eat("P2P/")) return take_p2p(cursor, edge);
  if (cursor.eat("NET/")) return edge.via = Via::Net, take_net(cursor, edge);
  if (cursor.eat("SHM/")) return take_shm(cursor, edge);
  if (cursor.eat("direct shared memory")) return edge.via = Via::Shm, true;
  if (cursor.eat("COLLNET/")) return edge.via = Via::CollNet, take_net(cursor, edge);
  return false;
}

/// The part after the destination: `{{ [send]}} via ...`. A record that ends early keeps its known fields.
template <typename C>
Parsed finish_edge(C cursor, ChannelEdge& edge) {
  if (cursor.eat(" [send]")) {
    edge.direction = Direction::Send;
  } else if (cursor.eat(" [receive]")) {
    edge.direction = Direction::Receive;
  }
  bool is_whole = cursor.eat(" via ") && take_via(cursor, edge);
  if (is_whole) {
    take_rccl_tail(cursor, edge);
    is_whole = ended(cursor) == Parsed::Whole;
  }
  return is_whole ? Parsed::Whole : Parsed::Broken;
}

/// `    0   1   2   3` or `0 1 2 ...`
Parsed ring_order(Cursor cursor, std::int32_t channel, std::int32_t nchannels, Record& record) {
  RingOrder order;
  order.channel = channel;
  order.nchannels = nchannels;
  cursor.skip_blanks();
  const char* const begin = cursor.at();
  const char* end = begin;
  for (std::int32_t rank = 0; cursor.number(rank); cursor.skip_blanks()) {
    ++order.count;
    end = cursor.at();
  }
  order.ranks = {begin, static_cast<std::size_t>(end - begin)};
  order.ends_in_dots = cursor.eat("...");
  record.make<RingOrder>() = order;
  return ended(cursor);
}

/// After `Ring 02 : 5`: ` -> 6 -> 7`.
Parsed ring_neighbours(Cursor cursor, std::int32_t channel, std::int32_t previous, Record& record) {
  RingNeighbours ring;
  ring.channel = channel;
  ring.previous = previous;
  if (!cursor.eat(" -> ") || !cursor.number(ring.rank) || !cursor.eat(" -> ") ||
      !cursor.number(ring.next)) {
    return Parsed::No;
  }
  take_rccl_tail(cursor, ring);
  record.make<RingNeighbours>() = ring;
  return ended(cursor);
}

/// Returns whether the text consists of digits and `-> []/|`.
bool is_tree_list(std::string_view list) {
  static constexpr std::array<bool, 256> kAllowed = [] {
    std::array<bool, 256> allowed{};
    for (const char c : std::string_view("0123456789-> []/|"))
      allowed[static_cast<unsigned char>(c)] = true;
    return allowed;
  }();
  bool is_all = true;
  for (const char c : list) is_all &= kAllowed[static_cast<unsigned char>(c)];
  return is_all;
}

Parsed collnet_edge(Cursor cursor, Record& record) {
  std::int16_t channel = -1;
  std::int16_t connection = -1;
  std::int32_t from = -1;
  if (!cursor.number(channel)) return Parsed::No;
  if (cursor.eat('/') && !cursor.number(connection)) return Parsed::No;
  if (!cursor.eat(" : ") || !cursor.number(from)) return Parsed::No;
  ChannelEdge& edge = record.make<ChannelEdge>();
  edge.channel = channel;
  edge.connection = connection;
  edge.from = from;
  return finish_edge(cursor, edge);
}

}  // namespace

namespace {

template <typename C>
Parsed channel_line(C cursor, Record& record) {
  ChannelEdge& edge = record.make<ChannelEdge>();
  if (cursor.eat("Ring ")) {
    edge.is_ring_word = true;
  } else if (!cursor.eat("Channel ")) {
    return cursor.eat("CollNet ") || cursor.eat("Coll ") ? collnet_edge(cursor, record)
                                                         : Parsed::No;
  }
  if (!cursor.number(edge.channel)) return Parsed::No;
  if (cursor.eat('/') && !cursor.number(edge.connection)) return Parsed::No;
  if (!cursor.eat(" :")) return Parsed::No;
  const C behind_colon = cursor;
  cursor.skip_blanks();
  if (!cursor.number(edge.from)) return Parsed::No;
  const C behind_rank = cursor;
  if (!take_bracket(cursor, edge.from_id) || !cursor.eat(" -> ")) {
    const std::int32_t nchannels = edge.connection;
    return edge.is_ring_word || nchannels < 0
               ? Parsed::No
               : ring_order(behind_colon, edge.channel, nchannels, record);
  }
  if (!cursor.number(edge.to) || !take_bracket(cursor, edge.to_id)) return Parsed::Broken;
  if (edge.is_ring_word) {
    const Parsed parsed = ring_neighbours(behind_rank, edge.channel, edge.from, record);
    if (parsed != Parsed::No) return parsed;
  }
  return finish_edge(cursor, edge);
}

}  // namespace

Parsed parse_channel(std::string_view text, Record& record) {
  const RecordKind before = record.kind;
  const Parsed parsed = channel_line(Cursor(text), record);
  // An edge without its destination is invalid.
  const bool is_half = parsed == Parsed::Broken && record.kind == RecordKind::ChannelEdge &&
                       record.as<ChannelEdge>().to < 0 &&
                       record.as<ChannelEdge>().via != Via::CollNet;
  if (parsed == Parsed::No || is_half) record.kind = before;
  return parsed;
}

Parsed note_channel(std::string_view text, Record& record, TextFields& fields) {
  return channel_line(NotingCursor(text, fields), record);
}

Parsed parse_tree(std::string_view text, Record& record) {
  Cursor cursor(text);
  Trees trees;
  if (cursor.eat("Tree ")) {
    TreeNeighbours tree;
    TreeLink& link = tree.link;
    if (!cursor.number(link.channel) || !cursor.eat(" : ") || !cursor.number(link.up) ||
        !cursor.eat(" -> ") || !cursor.number(link.rank) || !cursor.eat(" -> ")) {
      return Parsed::No;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (i > 0 && !cursor.eat('/')) break;
      if (!cursor.number(link.down[i])) break;
    }
    record.make<TreeNeighbours>() = tree;
    std::uint64_t bus = 0;
    if (cursor.eat(" comm ")) {
      std::int32_t nranks = 0;
      cursor.hex(bus);
      if (cursor.eat(" nRanks ")) cursor.number(nranks);
      if (cursor.eat(" busId ")) cursor.hex(bus);
    }
    return ended(cursor);
  }
  if (cursor.eat("NVLS Trees :")) {
    trees.is_nvls = true;
  } else if (cursor.eat("Collnet Chains") || cursor.eat("Connected Collnet Chains") ||
             cursor.eat("CollNet Chains")) {
    trees.is_chain = true;
  } else if (!cursor.eat("Trees")) {
    return Parsed::No;
  }
  cursor.skip_blanks();
  if (!trees.is_nvls && cursor.peek() != '[') return Parsed::No;
  const std::size_t tail = find_text(cursor.rest(), " comm 0x");
  trees.list = trimmed_right(cursor.rest().substr(0, tail));
  if (tail != std::string_view::npos) {
    cursor.skip(tail);
    take_rccl_tail(cursor, trees);
  }
  // `up->rank->down/down/down` has its slashes after the second arrow, from 2.10 on before the first.
  const std::size_t arrow = trees.list.find("->");
  trees.is_up_first = !trees.is_chain && !trees.is_nvls && arrow != std::string_view::npos &&
                      !contains(trees.list.substr(0, arrow), '/');
  TreeLink first;
  if (TreeCursor(trees).next(first)) trees.rank = first.rank;
  record.make<Trees>() = trees;
  return is_tree_list(trees.list) ? Parsed::Whole : Parsed::Broken;
}

Parsed parse_connected(std::string_view text, Record& record) {
  Cursor cursor(text);
  Connected connected;
  if (cursor.eat("rank ") && !cursor.number(connected.rank)) return Parsed::No;
  cursor.skip_blanks();
  using What = Connected::What;
  if (cursor.eat("Connected all rings")) {
    connected.what = What::Rings;
  } else if (cursor.eat("Connected all trees")) {
    connected.what = What::Trees;
  } else if (cursor.eat("Connected binomial trees")) {
    connected.what = What::BinomialTrees;
  } else if (cursor.eat("Connected NVLS tree")) {
    connected.what = What::NvlsTree;
  } else if (cursor.eat("Connected collnet + chain")) {
    connected.what = What::CollNetChain;
  } else if (cursor.eat("Connected CollNet") || cursor.eat("Connected Collnet") ||
             cursor.eat("Connected collnet")) {
    connected.what = What::CollNet;
  } else {
    return Parsed::No;
  }
  if (cursor.eat(", use ring PXN ")) {
    cursor.number(connected.pxn);
    if (cursor.eat(" GDR ")) cursor.number(connected.gdr);
  }
  take_rccl_tail(cursor, connected);
  record.make<Connected>() = connected;
  return ended(cursor);
}

bool TreeCursor::next(TreeLink& link) {
  Cursor cursor(rest_);
  link = TreeLink{};
  cursor.skip_blanks();
  link.channel = count_;
  if (!is_nvls_ && (!cursor.eat('[') || !cursor.number(link.channel) || !cursor.eat(']')))
    return false;
  cursor.skip_blanks();
  if (is_up_first_) {
    if (!cursor.number(link.up) || !cursor.eat("->") || !cursor.number(link.rank) ||
        !cursor.eat("->")) {
      return false;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0 && !cursor.eat('/')) break;
    if (!cursor.number(link.down[i])) return false;
  }
  if (!is_up_first_ && (!cursor.eat("->") || !cursor.number(link.rank) || !cursor.eat("->") ||
                        !cursor.number(link.up))) {
    return false;
  }
  if (cursor.peek() == '|') {  // 2.6 to 2.9 print the tree downwards too
    while (!cursor.is_done() && cursor.peek() != ' ') cursor.skip(1);
  }
  rest_ = cursor.rest();
  ++count_;
  return true;
}

bool IntCursor::next(std::int32_t& number) {
  Cursor cursor(rest_);
  cursor.skip_blanks();
  if (!cursor.number(number)) return false;
  rest_ = cursor.rest();
  return true;
}

}  // namespace ringside::logs
