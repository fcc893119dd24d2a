"""Codes of fabric, environment, cluster and parallelism: A550 to A699."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A550",
        "ib_netdev is no interface that reaches other nodes",
        "ib_netdev names the network interface that carries rendezvous traffic (ens1, bond0). RDMA devices (mlx5_0, "
        "rdma0) belong in ib_hca_devices; lo and docker0 reach nobody.",
        '{"roles": {"server": {"ib_netdev": "mlx5_0"}}}',
        '{"roles": {"server": {"ib_netdev": "auto"}}}',
    ),
    Entry(
        "A552",
        "Fabric discovery sets this variable",
        "NCCL_IB_HCA and the *_SOCKET_IFNAME variables are set per node from what discovery finds. A constant for all "
        "nodes is wrong as soon as one differs. Serving configs carry them; there they are left out.",
        '{"env": {"NCCL_SOCKET_IFNAME": "eno0"}}',
        '{"roles": {"server": {"ib_netdev": "eno0"}}}',
    ),
    Entry(
        "A554",
        "An engine switch has a value that the engine may not understand",
        "These variables are read as 0 or 1. Another truthy word counts as off, or ends the server at start.",
        '{"env": {"VLLM_ROCM_USE_AITER": "true"}}',
        '{"env": {"VLLM_ROCM_USE_AITER": "1"}}',
    ),
    Entry(
        "A555",
        "One GID index for all nodes",
        "GID tables differ between hosts; an index that is right on one node may select another network on the next.",
        '{"env": {"NCCL_IB_GID_INDEX": "3"}}',
        '{"env": {}}',
    ),
    Entry(
        "A556",
        "A secret stands in the file",
        "Plans, reports and the process list of a node show what a configuration holds. Tokens and passwords stay in "
        "files of their own: paths.hf_token_file names the one of HF_TOKEN, which every server and client is given.",
        '{"env": {"HF_TOKEN": "hf_..."}}',
        '{"paths": {"hf_token_file": "/home/alice/.hf_token"}}',
    ),
    Entry(
        "A601",
        "There is no cluster file",
        "The nodes are listed in a cluster file, which is an input of its own. A dry run goes on without one.",
        "atomcfg plan config.json -o plan.json",
        "atomcfg plan config.json --cluster cluster.json -o plan.json",
    ),
    Entry(
        "A602",
        "This is no user name",
        "The name becomes part of commands and paths on the nodes.",
        '{"username": "alice@lab"}',
        '{"username": "alice"}',
    ),
    Entry(
        "A603",
        "This is no address",
        "Nodes are named by host name or IP address.",
        '{"node_dict": {"[::1]": {}}}',
        '{"node_dict": {"::1": {}}}',
    ),
    Entry(
        "A604",
        "The cluster file lists no node",
        "node_dict is empty, so there is nothing to run on.",
        '{"node_dict": {}}',
        '{"node_dict": {"10.0.0.1": {"vpc_ip": "10.0.0.1"}}}',
    ),
    Entry(
        "A605",
        "The head is not among the nodes",
        "head_node_dict.mgmt_ip names rank 0, which must be one of node_dict's keys.",
        '{"head_node_dict": {"mgmt_ip": "10.0.0.9"}, "node_dict": {"10.0.0.1": {}}}',
        '{"head_node_dict": {"mgmt_ip": "10.0.0.1"}, "node_dict": {"10.0.0.1": {}}}',
    ),
    Entry(
        "A606",
        "nnodes and the cluster file disagree",
        "Every node of the cluster file takes part, so their number is params.nnodes.",
        '{"params": {"nnodes": 2}} with one host',
        '{"params": {"nnodes": 1}} with one host',
    ),
    Entry(
        "A607",
        "master_addr is none of the cluster's addresses",
        "The ranks meet at master_addr, normally the head's vpc_ip. An address that no node is known by is mostly a "
        "leftover of another cluster.",
        '{"params": {"nnodes": 2, "master_addr": "10.9.9.9"}}',
        '{"params": {"nnodes": 2, "master_addr": "10.0.0.1"}}',
    ),
    Entry(
        "A608",
        "This driver has no pipeline parallelism",
        "On several nodes it runs data parallel, one full copy of the model a node.",
        '{"params": {"driver": "atom", "pipeline_parallel_size": 2}}',
        '{"params": {"driver": "atom", "pipeline_parallel_size": 1}}',
    ),
    Entry(
        "A609",
        "Pipeline parallelism on one node",
        "pipeline_parallel_size > 1 splits the model over nodes, so it needs as many.",
        '{"params": {"pipeline_parallel_size": 2, "nnodes": 1}}',
        '{"params": {"pipeline_parallel_size": 2, "nnodes": 2}}',
    ),
    Entry(
        "A610",
        "Several nodes without pipeline parallelism",
        "With this driver each node holds a stage of the pipeline; without it the other nodes would wait forever.",
        '{"params": {"nnodes": 2, "pipeline_parallel_size": 1}}',
        '{"params": {"nnodes": 2, "pipeline_parallel_size": 2}}',
    ),
    Entry(
        "A611",
        "No volume shows log_dir in the container",
        "The client writes its result below log_dir. Outside every mount it would be lost with the container.",
        '{"paths": {"log_dir": "/srv/LOGS"}, "volumes": ["/home/a:/home/a"]}',
        '{"paths": {"log_dir": "/srv/LOGS"}, "volumes": ["/srv:/srv"]}',
    ),
)
