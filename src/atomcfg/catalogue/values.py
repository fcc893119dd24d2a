"""Codes of placeholders, overrides, paths and settings: A301 to A319, A410 to A429."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A301",
        "An override names no path",
        "The part before the equals sign is read as a configuration path: words with dots, [0] for list members, "
        '["..."] for odd keys.',
        "--set '.params=1'",
        "--set params.num_prompts=500",
    ),
    Entry(
        "A302",
        "An override fits nowhere",
        "The path leads through something that is no object or list here, into a profile that is not there, or into the "
        "blocks of another dialect.",
        "--set server_params.nnodes=2 on a flat config",
        "--set params.nnodes=2",
    ),
    Entry(
        "A303",
        "The lab file sets a path that this config has not",
        "A lab file serves several configs; what does not fit this one was not set. If it was meant to be, its path is "
        "misspelt.",
        '[set]\n"server_params.port_no" = 8001',
        '[set]\n"params.port_no" = 8001',
    ),
    Entry(
        "A304",
        "A lab value is not used",
        "No input holds the token of that name. Either the config does not need it, or the name is misspelt.",
        '[values]\nchangeme-model-mount = "/data"',
        '[values]\nchangeme-models-mount = "/data"',
    ),
    Entry(
        "A311",
        "The user is the local one",
        "{user-id} stands for the cluster file's username. That is itself {user-id}, so the name of whoever compiles is "
        "used.",
        '{"username": "{user-id}"}',
        '{"username": "alice"}',
    ),
    Entry(
        "A312",
        "Paths refer to each other in a circle",
        "Each key of paths may refer to others; somewhere one must be a plain path.",
        '{"paths": {"shared_fs": "{log_dir}", "log_dir": "{shared_fs}"}}',
        '{"paths": {"shared_fs": "/srv/alice", "log_dir": "{shared_fs}/LOGS"}}',
    ),
    Entry(
        "A313",
        "~ and $HOME are not expanded in paths",
        "A config is read on the launcher and used on the nodes: nothing says whose home is meant, and a folder that is "
        "really called ~ would be made.",
        '{"paths": {"log_dir": "~/LOGS"}}',
        '{"paths": {"log_dir": "{shared_fs}/LOGS"}}',
    ),
    Entry(
        "A314",
        "threshold_json takes no placeholder",
        "It is the literal name of a file beside the config.",
        '{"threshold_json": "{shared_fs}/thresholds.json"}',
        '{"threshold_json": "mi325x_atom_model_threshold.json"}',
    ),
    Entry(
        "A315",
        "There is no such placeholder",
        "Inside paths the other keys of paths and {user-id} are known, elsewhere {user-id} and {paths.KEY}. Spelling and "
        "case count. Other braces, such as JSON in an argument, are left alone.",
        '{"paths": {"log_dir": "{Shared_FS}/LOGS"}}',
        '{"paths": {"log_dir": "{shared_fs}/LOGS"}}',
    ),
    Entry(
        "A316",
        "A lab must still fill something in",
        "Shipped configs leave to the lab what only it knows. A named token is supplied by [values] in a lab file, the "
        "bare <changeme> by its path. A dry run shows this as a warning.",
        '{"container": {"image": "<changeme>"}}',
        '[set]\n"container.image" = "rocm/atom-dev:latest"',
    ),
    Entry(
        "A317",
        "log_dir is not absolute",
        "A run writes below log_dir on every node. A relative path would depend on where the login starts.",
        '{"paths": {"log_dir": "LOGS"}}',
        '{"paths": {"log_dir": "/srv/alice/LOGS"}}',
    ),
    Entry(
        "A411",
        "The driver's arguments are missing",
        "This driver takes its server's command line from a key of roles.server that is not there.",
        '{"params": {"driver": "atom"}, "roles": {"server": {}}}',
        '{"params": {"driver": "atom"}, "roles": {"server": {"atom_args": ["-tp", "8"]}}}',
    ),
    Entry(
        "A412",
        "Arguments of another driver reach nothing",
        "roles.server holds arguments that the chosen driver does not read.",
        '{"params": {"driver": "sglang"}, "roles": {"server": {"serve_args": {"enforce-eager": true}}}}',
        '{"params": {"driver": "sglang"}, "roles": {"server": {"sglang_args": ["--disable-cuda-graph"]}}}',
    ),
    Entry(
        "A413",
        "A truth value in another spelling",
        "Older files write 1, 0, yes or no here. It is understood, but only true and false are so everywhere.",
        '{"params": {"reuse_server_across_sweep": "1"}}',
        '{"params": {"reuse_server_across_sweep": true}}',
    ),
    Entry(
        "A414",
        "A budget of no time",
        "The server_ and client_ waits add up to the time that a server may take to be ready and a client to finish. "
        "Together they are 0, so everything would be stopped as it starts.",
        '{"params": {"client_initial_wait_s": 0, "client_poll_count": 0}}',
        '{"params": {"client_initial_wait_s": 0, "client_poll_count": 80}}',
    ),
    Entry(
        "A420",
        "A value has no effect",
        "The value was given, but with this driver no command, environment entry, gate or limit depends on it. A run "
        "would measure something other than what the file seems to ask for.",
        '{"params": {"driver": "sglang", "burstiness": "0.5"}}',
        '{"params": {"driver": "sglang"}}',
    ),
    Entry(
        "A421",
        "The driver is inferred",
        "params.driver is absent, so the driver follows from which arguments are there. Stating it is safer: adding an "
        "argument list would change it.",
        '{"roles": {"server": {"atom_args": []}}, "params": {}}',
        '{"roles": {"server": {"atom_args": []}}, "params": {"driver": "atom"}}',
    ),
    Entry(
        "A422",
        "No driver is stated",
        "Neither params.driver nor any server arguments say which engine is to serve.",
        '{"params": {}}',
        '{"params": {"driver": "vllm"}}',
    ),
    Entry(
        "A423",
        "bench_extra_args cannot be split into words",
        "It is split as a POSIX shell would; a quotation that is opened must be closed.",
        '{"params": {"bench_extra_args": "--metadata \'note=a b"}}',
        '{"params": {"bench_extra_args": "--metadata \'note=a b\'"}}',
    ),
    Entry(
        "A424",
        "This is no bind mount",
        "A volume is written as host path, colon, path in the container, and options if any; both paths start with /.",
        '{"volumes": ["models:/models"]}',
        '{"volumes": ["/data/models:/models:ro"]}',
    ),
    Entry(
        "A425",
        "This is no container name",
        "Container engines take letters, digits, _ . and -, beginning with a letter or digit.",
        '{"container": {"name": "atom_{paths.models_dir}"}}',
        '{"container": {"name": "atom_mi3xx"}}',
    ),
    Entry(
        "A426",
        "This is no image name",
        "An image is named like registry/repository:tag, without spaces.",
        '{"container": {"image": "rocm/atom dev"}}',
        '{"container": {"image": "rocm/atom-dev:latest"}}',
    ),
    Entry(
        "A428",
        "A backtick or a control character in a name or path",
        "Ids and paths end up in file names, labels and tables; a newline or a backtick in one is never meant.",
        '{"model": {"id": "org/`model`"}}',
        '{"model": {"id": "org/model"}}',
    ),
    Entry(
        "A429",
        "No container image is named",
        "Neither the config nor the cluster file says which image to run.",
        '{"container": {"name": "atom"}}',
        '{"container": {"name": "atom", "image": "rocm/atom-dev:latest"}}',
    ),
    Entry(
        "A430",
        "A size of shared memory that podman refuses",
        "With ipc host, /dev/shm is the host's. Docker ignores a size for it; podman refuses to start the container.",
        '{"container": {"runtime": {"name": "podman", "args": {"ipc": "host", "shm_size": "128G"}}}}',
        '{"container": {"runtime": {"name": "podman", "args": {"ipc": "host"}}}}',
    ),
)
