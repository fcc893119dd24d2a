"""Environment and tokens that every driver shares: token, cache, fabric, ports, addresses, paths."""

from __future__ import annotations

from atomcfg.documents import dotted
from atomcfg.model import Settings
from atomcfg.plan import EnvVar
from atomcfg.tokens import Hole, Token, bind, template

from .base import EnvEntry

__all__ = [
    "HF_TOKEN", "TRITON", "base_env", "http_port", "launch_env", "literal", "located", "master_addr", "master_port",
    "model", "user_env",
]  # fmt: skip

HF_TOKEN = "hf_token"  # the name of the secret reference

# The engine compares these two with exactly "1"; any other word means off.
TRITON = ("ATOM_USE_TRITON_MOE", "ATOM_USE_TRITON_GEMM")

_GFX942 = ("mi3xx", "mi300x", "mi325x")


def located(text: str, models_dir: str) -> Token:
    """`text` with a leading models directory, also after `--flag=`, as a hole that a rehearsal can map."""
    root = models_dir.rstrip("/")
    flag, equals, value = text.partition("=") if text.startswith("-") else ("", "", text)
    if not root or not (value == root or value.startswith(f"{root}/")):
        return text
    return template(flag + equals, bind(Hole.MODELS_DIR, root), value[len(root) :])


def model(settings: Settings) -> Token:
    """The model as server and client are told: an id, or a path in the container."""
    return located(settings.model_id, settings.paths.models_dir)


def http_port(settings: Settings) -> Token:
    return template(bind(Hole.HTTP_PORT, str(settings.params.port_no)))


def master_port(settings: Settings) -> Token:
    return template(bind(Hole.MASTER_PORT, str(settings.params.master_port)))


def master_addr(settings: Settings) -> Token:
    """The coordinator's address: `params.master_addr`, else the head's address in the cluster."""
    return template(
        bind(Hole.MASTER_ADDR, settings.params.master_addr or settings.cluster.nodes[0].cluster_address)
    )


def literal(name: str, value: Token, *sources: str) -> EnvEntry:
    return EnvEntry(EnvVar(name, value), sources)


def base_env(settings: Settings) -> tuple[EnvEntry, ...]:
    """What every server and client gets: the hub token, by reference, and the weights' directory."""
    return (
        EnvEntry(EnvVar("HF_TOKEN", secret=HF_TOKEN), ("paths.hf_token_file",)),
        literal("HF_HUB_CACHE", located(settings.paths.models_dir, settings.paths.models_dir), "paths.models_dir"),
    )


def launch_env(settings: Settings, *defaults: EnvEntry) -> tuple[EnvEntry, ...]:
    """A server's environment before the user's: base, the driver's defaults, fabric, what the precision needs."""
    return (*base_env(settings), *defaults, *_fabric(settings), *_precision(settings))


def user_env(settings: Settings) -> tuple[EnvEntry, ...]:
    """`roles.server.env`, with "true" written as 1 where the engine knows nothing else."""
    return tuple(
        literal(
            name, "1" if name in TRITON and value == "true" else value, dotted(("roles", "server", "env", name))
        )
        for name, value in settings.server.env.items()
    )


def _fabric(settings: Settings) -> tuple[EnvEntry, ...]:
    if settings.params.nnodes == 1:
        return ()
    server = settings.server
    devices = bind(Hole.FABRIC_HCA, ",".join(server.ib_hca_devices) or None)
    netdev = template(bind(Hole.FABRIC_NETDEV, server.ib_netdev))
    return (
        # "=" asks for exactly these names; without it mlx5_1 would also match mlx5_10.
        literal("NCCL_IB_HCA", template("=", devices), "roles.server.ib_hca_devices"),
        *(
            literal(f"{library}_SOCKET_IFNAME", netdev, "roles.server.ib_netdev")
            for library in ("NCCL", "GLOO", "TP")
        ),
    )


def _precision(settings: Settings) -> tuple[EnvEntry, ...]:
    if settings.precision != "mxfp4" or settings.gpu_arch not in _GFX942:
        return ()
    return tuple(
        literal(name, "1", "model.precision", "gpu_arch") for name in TRITON if name not in settings.server.env
    )
