"""Whether a model's weights are whole, by their manifest. Presence of some bytes proves nothing."""

# ruff: noqa: UP006, UP035, UP045 - must run on Python 3.6
import json
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

__all__ = ["inspect"]

INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
SINGLE = ("*.safetensors", "*.bin", "*.pt", "*.gguf")
MOST_NAMES = 5


def inspect(models_dir: str, model_id: str) -> Dict[str, Any]:
    """{"path", "files", "bytes", "fault": ""} of a model in a Hugging Face cache, or at an absolute path."""
    folder = _folder(models_dir, model_id)
    if folder is None:
        return {"path": "", "files": 0, "bytes": 0, "fault": f"{model_id} is not in {models_dir}"}
    names, promised = _manifest(folder)
    sizes = {name: _size(folder / name) for name in names}
    absent = sorted(name for name, size in sizes.items() if not size)
    total = sum(size for size in sizes.values() if size)
    fault = ""
    if not (folder / "config.json").is_file():
        fault = f"{folder} has no config.json"
    elif not names:
        fault = f"{folder} has no weights"
    elif absent:
        shown = ", ".join(absent[:MOST_NAMES])
        fault = f"{len(absent)} of {len(names)} weight files are missing or empty: {shown}"
    elif total < promised:
        fault = f"the weights have {total} bytes, their index promises {promised}: a download was cut off"
    return {"path": str(folder), "files": len(names) - len(absent), "bytes": total, "fault": fault}


def _folder(models_dir: str, model_id: str) -> Optional[Path]:
    if model_id.startswith("/"):
        return Path(model_id) if Path(model_id).is_dir() else None
    cache = Path(models_dir) / ("models--" + model_id.replace("/", "--"))
    try:
        revision = (cache / "refs" / "main").read_text().strip()
    except OSError:
        revision = ""
    if revision and (cache / "snapshots" / revision).is_dir():
        return cache / "snapshots" / revision
    snapshots = sorted((cache / "snapshots").glob("*"))
    return snapshots[-1] if snapshots else None


def _manifest(folder: Path) -> Tuple[List[str], int]:
    """The weight files and their bytes, as far as an index promises them."""
    for name in INDEXES:
        try:
            index = json.loads((folder / name).read_text())
            files = sorted(set(index["weight_map"].values()))
            return files, int(index.get("metadata", {}).get("total_size", 0))
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            continue  # no such index, or none that can be read
    return [path.name for pattern in SINGLE for path in sorted(folder.glob(pattern))], 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
