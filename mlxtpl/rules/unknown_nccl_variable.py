"""A variable looks like one of NCCL, and neither NCCL nor PyTorch reads it.

## Why   it has no effect and nobody says so: NCCL_TIMEOUT, for one, does not exist; the timeout of collectives is
         init_process_group(timeout=…)
## Bad   env: [{name: NCCL_TIMEOUT, value: "3600"}], [{name: NCCL_SOCKET_IFNAMES, value: eth0}]
## Good  env: [{name: NCCL_SOCKET_IFNAME, value: eth0}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Edit, Finding, Subject

ID = "unknown-nccl-variable"
LEVEL = "warning"
# Invented ones that are often seen → what to do instead. Looked for in libnccl 2.32.3, torch 2.1.2 and 2.14.1.
_INVENTED = {
    "NCCL_TIMEOUT": "the timeout is init_process_group(timeout=…)",
    "NCCL_LAUNCH_TIMEOUT": "the timeout is init_process_group(timeout=…)",
    "NCCL_SOCKET_TIMEOUT": "NCCL_SOCKET_RETRY_CNT says how often a connection is tried",
    "NCCL_IB_ENABLE": "InfiniBand is used when it is there; NCCL_IB_DISABLE=1 turns it off",
    "TORCH_NCCL_TIMEOUT": "the timeout is init_process_group(timeout=…)",
}
# Names that are read; a name that is nearly one of them, and none itself, is misspelt.
_KNOWN = """NCCL_DEBUG NCCL_DEBUG_SUBSYS NCCL_DEBUG_FILE NCCL_SOCKET_IFNAME NCCL_SOCKET_FAMILY NCCL_IB_HCA NCCL_IB_DISABLE
    NCCL_IB_GID_INDEX NCCL_IB_TIMEOUT NCCL_IB_RETRY_CNT NCCL_IB_TC NCCL_IB_SL NCCL_NET NCCL_NET_GDR_LEVEL NCCL_P2P_DISABLE
    NCCL_P2P_LEVEL NCCL_SHM_DISABLE NCCL_CUMEM_ENABLE NCCL_CUMEM_HOST_ENABLE NCCL_NVLS_ENABLE NCCL_ALGO NCCL_PROTO
    NCCL_CROSS_NIC NCCL_SOCKET_NTHREADS NCCL_NSOCKS_PERTHREAD NCCL_SOCKET_RETRY_CNT NCCL_SOCKET_RETRY_SLEEP_MSEC
    NCCL_TOPO_FILE NCCL_TOPO_DUMP_FILE NCCL_BUFFSIZE NCCL_MIN_NCHANNELS NCCL_MAX_NCHANNELS NCCL_ASYNC_ERROR_HANDLING
    NCCL_BLOCKING_WAIT NCCL_DESYNC_DEBUG NCCL_ENABLE_TIMING TORCH_NCCL_ASYNC_ERROR_HANDLING TORCH_NCCL_BLOCKING_WAIT
    TORCH_NCCL_HIGH_PRIORITY TORCH_NCCL_ENABLE_MONITORING TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC TORCH_NCCL_TRACE_BUFFER_SIZE
    TORCH_NCCL_DUMP_ON_TIMEOUT TORCH_NCCL_DEBUG_INFO_TEMP_FILE TORCH_NCCL_DEBUG_INFO_PIPE_FILE TORCH_NCCL_TRACE_CPP_STACK
    TORCH_NCCL_ENABLE_TIMING TORCH_NCCL_DESYNC_DEBUG TORCH_NCCL_COORD_CHECK_MILSEC TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC
    TORCH_NCCL_NAN_CHECK""".split()
# Further ones that are read and are near to those above, from NCCL's user guide.
_ALSO = """NCCL_NET_GDR_READ NCCL_NET_PLUGIN NCCL_NET_SHARED_BUFFERS NCCL_IB_CUDA_SUPPORT NCCL_IB_QPS_PER_CONNECTION
    NCCL_IB_SPLIT_DATA_ON_QPS NCCL_IB_PCI_RELAXED_ORDERING NCCL_IB_ADAPTIVE_ROUTING NCCL_IB_AR_THRESHOLD
    NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE NCCL_IB_ROCE_VERSION_NUM NCCL_IB_FIFO_TC NCCL_IB_ECE_ENABLE
    NCCL_IB_RETURN_ASYNC_EVENTS NCCL_IB_MERGE_VFS NCCL_IB_MERGE_NICS NCCL_MIN_CTAS NCCL_MAX_CTAS NCCL_MIN_P2P_NCHANNELS
    NCCL_MAX_P2P_NCHANNELS NCCL_P2P_DIRECT_DISABLE NCCL_P2P_NET_CHUNKSIZE NCCL_P2P_PXN_LEVEL NCCL_PXN_DISABLE
    NCCL_SHM_USE_CUDA_MEMCPY NCCL_SHM_LOCALITY NCCL_NVLS_CHUNKSIZE NCCL_NVLSTREE_MAX_CHUNKSIZE NCCL_DMABUF_ENABLE
    NCCL_NTHREADS NCCL_DEBUG_TIMESTAMP_FORMAT NCCL_DEBUG_TIMESTAMP_LEVELS NCCL_TOPO_DUMP_FILE_RANK
    NCCL_GRAPH_DUMP_FILE NCCL_GRAPH_FILE NCCL_SOCKET_POLL_TIMEOUT_MSEC NCCL_CUMEM_RELEASE NCCL_TUNER_PLUGIN
    NCCL_ALGORITHM NCCL_LL_BUFFSIZE NCCL_LL128_BUFFSIZE NCCL_IB_SUBNET_AWARE_ROUTING""".split()


def check(subject: Subject) -> Iterator[Finding]:
    """Source: NVIDIA/nccl docs/userguide/source/env.rst at 2.30.7; torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp."""
    for container in subject.containers(*TRAINING):
        for entry in container.items("env"):
            name = entry.text("name")
            if not name.startswith(("NCCL_", "TORCH_NCCL_")) or name in _KNOWN or name in _ALSO:
                continue
            if name in _INVENTED:
                yield entry.finding("is read by neither NCCL nor PyTorch", "name", hint=_INVENTED[name])
                continue
            import difflib  # a cold start has no use for it

            near = difflib.get_close_matches(name, _KNOWN, 1, 0.92)
            near = near or [each for each in _KNOWN if sorted(each) == sorted(name)]  # letters that changed places
            if near:
                edits = (Edit("set", (*entry.path, "name"), near[0]),) if container.env(near[0]) is None else ()
                yield entry.finding(f"must be {near[0]}: no {name} is read", "name", edits=edits)
