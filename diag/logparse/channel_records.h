#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of channels, their connections, rings and trees.
/// source  docs/formats 2.8 to 2.10, 4.7
namespace ringside::logs {

/// The transport of a connection, as the line prints it.
enum class Via : std::uint8_t {
  P2pDirect,    ///< `P2P/direct pointer`: one process
  P2pIpc,       ///< `P2P/IPC`
  P2pCumem,     ///< `P2P/CUMEM`
  P2pMnnvl,     ///< `P2P/MNNVL`: NVLink between hosts
  P2pCommon,    ///< `P2P/common device`
  P2pIndirect,  ///< `P2P/indirect/<rank>[..]`: NVLink through a third GPU
  Shm,          ///< `direct shared memory`, `SHM/...`
  Net,          ///< `NET/<name>/<dev>`
  CollNet,      ///< `COLLNET/<name>/<dev>`
  Unknown       ///< unknown or lost
};

/// The direction in a connection line. None: the line shows none.
enum class Direction : std::uint8_t { None, Send, Receive };

/// `Channel <channel>/<connection> : <from>[..] -> <to>[..] via ...`, of any version.
struct ChannelEdge {
  static constexpr RecordKind kKind = RecordKind::ChannelEdge;
  Via via = Via::Unknown;
  Direction direction = Direction::None;
  bool gdr = false;           ///< `/GDRDMA`; meaningless when the record is torn
  bool gdr_pci = false;       ///< `/GDRDMA(PCI)`
  bool shared = false;        ///< `/Shared`
  bool read = false;          ///< `/read`
  bool copy_engine = false;   ///< `/CE`, `SHM/CE/...`
  bool is_ring_word = false;  ///< `Ring 00 : ...`, up to 2.6
  std::int16_t channel = -1;
  std::int16_t connection = -1;  ///< 0 collectives, 1 send/recv; -1: not printed by this version
  std::int32_t from = -1;        ///< rank
  std::int32_t to = -1;          ///< rank; -1 for CollNet
  std::uint64_t from_id = 0;     ///< `[1b000]`, its digits read as hexadecimal; 0 where absent
  std::uint64_t to_id = 0;
  std::int32_t net_device = -1;  ///< index as in NetDevice
  std::int32_t proxy = -1;       ///< PXN: the rank that owns the NIC; -1: none
  std::string_view net;          ///< `IB`, `Socket`, `AWS Libfabric`
  std::uint64_t comm = 0;        ///< RCCL only
  std::int32_t nranks = -1;      ///< RCCL
};

/// The order of a ring in send direction from rank 0, printed by rank 0.
struct RingOrder {
  static constexpr RecordKind kKind = RecordKind::RingOrder;
  bool ends_in_dots = false;  ///< 2.24+: the rest is omitted
  std::int32_t channel = -1;
  std::int32_t nchannels = -1;
  std::int32_t count = 0;  ///< ranks printed; up to 2.23 never more than 20
  std::string_view ranks;  ///< to be read with IntCursor
};

/// `Ring 00 : 2 -> 3 -> 4`
struct RingNeighbours {
  static constexpr RecordKind kKind = RecordKind::RingNeighbours;
  std::int32_t channel = -1;
  std::int32_t previous = -1, rank = -1, next = -1;
  std::uint64_t comm = 0;    ///< RCCL
  std::int32_t nranks = -1;  ///< RCCL
};

/// A rank's neighbours in a tree; -1: none.
struct TreeLink {
  std::int32_t channel = -1;
  std::int32_t rank = -1;
  std::int32_t up = -1;
  std::array<std::int32_t, 3> down{-1, -1, -1};
};

/// `Tree 0 : 2 -> 3 -> 4/-1/-1`
struct TreeNeighbours {
  static constexpr RecordKind kKind = RecordKind::TreeNeighbours;
  TreeLink link;
};

/// The trees of a rank, to be read with TreeCursor.
struct Trees {
  static constexpr RecordKind kKind = RecordKind::Trees;
  bool is_chain = false;     ///< `Collnet Chains`
  bool is_nvls = false;      ///< `NVLS Trees`
  bool is_up_first = false;  ///< 2.4 to 2.9: `up->rank->down/down/down`
  std::int32_t rank = -1;    ///< rank of the first entry
  std::uint64_t comm = 0;    ///< RCCL
  std::int32_t nranks = -1;  ///< RCCL
  std::string_view list;     ///< `[0] 4/-1/-1->3->2 [1] ...`
};

/// Iterates over Trees::list. next() returns false at the end and at an incomplete entry.
class TreeCursor {
 public:
  explicit TreeCursor(const Trees& trees)
      : rest_(trees.list), is_up_first_(trees.is_up_first), is_nvls_(trees.is_nvls) {}
  bool next(TreeLink& link);

 private:
  std::string_view rest_;
  bool is_up_first_;
  bool is_nvls_;
  std::int32_t count_ = 0;
};

/// Iterates over integers that are separated by blanks. next() returns false at the end and at other text.
class IntCursor {
 public:
  explicit IntCursor(std::string_view list) : rest_(list) {}
  bool next(std::int32_t& number);

 private:
  std::string_view rest_;
};

/// `Connected all rings ...`: the channels of one type are connected.
struct Connected {
  static constexpr RecordKind kKind = RecordKind::Connected;
  enum class What : std::uint8_t { Rings, Trees, BinomialTrees, NvlsTree, CollNet, CollNetChain };
  What what = What::Rings;
  std::int8_t pxn = -1;      ///< 2.24+
  std::int8_t gdr = -1;      ///< 2.24+: 1, all of this rank's ring connections over NET use GDR
  std::int32_t rank = -1;    ///< CollNet only
  std::uint64_t comm = 0;    ///< RCCL
  std::int32_t nranks = -1;  ///< RCCL
};

}  // namespace ringside::logs
