#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/transport/socket/patience.h"

namespace ringside {

/// What the processes of one job share and no other process knows.
struct Secret {
  std::array<std::byte, 16> bytes{};
  friend bool operator==(const Secret&, const Secret&) = default;
};

/// 128 bits from the operating system.
Secret random_secret();

inline constexpr std::uint16_t kWireVersion = 2;  ///< of everything that ranks say to each other

enum class HandshakeRole : std::uint8_t { Connecting = 1, Accepting = 2 };

/// Proves to both ends of a connection that the other knows the secret, without sending it.
///
///     connecting -> accepting   opening: "RSDE", version, role, nonce of 32 bytes
///     accepting  -> connecting  opening
///     connecting -> accepting   proof: MAC(key, label, role, both openings)
///     accepting  -> connecting  proof
///
/// The key is a hash of the secret, the MAC is HMAC-SHA-512-256. Fresh nonces from both sides make an
/// old recording worthless, the role keeps a proof from being sent back as the answer, and the connecting side
/// proves first, so that a stranger who tries the port gets no MAC to guess secrets against.
/// It proves the peer's identity when the connection begins; what follows is neither encrypted nor signed, so
/// an attacker that can alter packets on the way can alter the data.
///
/// This class only turns bytes into bytes: it asks for exact counts and takes nothing that follows.
/// Threads   one at a time
class Handshake {
 public:
  Handshake(HandshakeRole role, const Secret& secret);
  Handshake(Handshake&&) noexcept = default;
  Handshake& operator=(Handshake&&) noexcept = default;
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake();

  [[nodiscard]] std::span<const std::byte> to_send() const;
  void sent(std::size_t bytes);  ///< the first `bytes` of to_send() are on their way

  /// How many more bytes of the peer it takes now; 0 when it has heard all.
  [[nodiscard]] std::size_t wanted() const;

  /// shape   at most wanted() bytes
  /// errors  PermissionDenied: the proof is wrong.  Corrupt: that is no ringside.  Unsupported: another
  ///         version.  What to_send() then holds should still be sent: it lets the peer say why, too.
  Status receive(std::span<const std::byte> bytes);

  /// The peer has proven the secret, and has what it needs to check our proof.
  [[nodiscard]] bool is_done() const { return stage_ == Stage::Proven && to_send().empty(); }

 private:
  enum class Stage : std::uint8_t { Opening, Proof, Proven, Refused };
  static constexpr std::size_t kOpening = 40;
  static constexpr std::size_t kProof = 32;

  Status take_opening();
  Status take_proof();
  [[nodiscard]] std::array<std::byte, kProof> proof_of(HandshakeRole role) const;
  void say(std::span<const std::byte> bytes);

  HandshakeRole role_;
  Stage stage_ = Stage::Opening;
  std::array<std::byte, 32> key_{};
  std::array<std::byte, kOpening> mine_{};
  std::array<std::byte, kOpening> theirs_{};
  std::vector<std::byte> incoming_;
  std::vector<std::byte> outgoing_;
  std::size_t sent_ = 0;
};

/// Runs one side of the handshake over a connected socket. The accepting side also logs a peer that it
/// refuses, with its address.
/// errors  as Handshake::receive; Timeout: the peer fell silent; Aborted; PeerGone: it closed
Status shake_hands(int socket, HandshakeRole role, const Secret& secret, const Patience& patience);

}  // namespace ringside
