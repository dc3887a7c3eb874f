#pragma once

#include <array>

namespace ringside {

/// Returns the verbs name of an RDMA completion's status, such as "IBV_WC_RETRY_EXC_ERR" for 12, or "unknown".
/// source  rdma-core, libibverbs/verbs.h: ibv_wc_status
constexpr const char* verbs_status_name(int status) {
  constexpr std::array kNames{"IBV_WC_SUCCESS",           "IBV_WC_LOC_LEN_ERR",
                              "IBV_WC_LOC_QP_OP_ERR",     "IBV_WC_LOC_EEC_OP_ERR",
                              "IBV_WC_LOC_PROT_ERR",      "IBV_WC_WR_FLUSH_ERR",
                              "IBV_WC_MW_BIND_ERR",       "IBV_WC_BAD_RESP_ERR",
                              "IBV_WC_LOC_ACCESS_ERR",    "IBV_WC_REM_INV_REQ_ERR",
                              "IBV_WC_REM_ACCESS_ERR",    "IBV_WC_REM_OP_ERR",
                              "IBV_WC_RETRY_EXC_ERR",     "IBV_WC_RNR_RETRY_EXC_ERR",
                              "IBV_WC_LOC_RDD_VIOL_ERR",  "IBV_WC_REM_INV_RD_REQ_ERR",
                              "IBV_WC_REM_ABORT_ERR",     "IBV_WC_INV_EECN_ERR",
                              "IBV_WC_INV_EEC_STATE_ERR", "IBV_WC_FATAL_ERR",
                              "IBV_WC_RESP_TIMEOUT_ERR",  "IBV_WC_GENERAL_ERR"};
  return status >= 0 && status < static_cast<int>(kNames.size())
             ? kNames[static_cast<unsigned>(status)]
             : "unknown";
}

}  // namespace ringside
