#include "engine/runtime/bootstrap/file_hand_out.h"

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/file_passing.h"

namespace ringside {

Status hand_out_file(int file, const AbstractName& at, std::size_t others,
                     const Bootstrap& bootstrap, const Patience& patience) {
  if (others == 0) return {};
  RINGSIDE_TRY(const std::unique_ptr<Acceptor> acceptor,
               Acceptor::listen(at, bootstrap.secret(), {}, bootstrap.clock()));
  for (std::size_t i = 0; i < others; ++i) {
    RINGSIDE_TRY(const Accepted accepted, acceptor->accept(patience));
    RINGSIDE_TRY(send_fd(accepted.fd.get(), file, patience));
  }
  return {};
}

Result<UniqueFd> fetch_file(const AbstractName& at, const Bootstrap& bootstrap,
                            const Patience& patience) {
  RINGSIDE_TRY(const UniqueFd peer, connect_authenticated(at, bootstrap.secret(), {}, patience));
  return recv_fd(peer.get(), patience);
}

}  // namespace ringside
