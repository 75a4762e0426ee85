"""The position table of a model on the Hugging Face Hub, without the rest of the model.

Of GPT-2's 548 MB, the header of the file and the 3 MB of its table are fetched. Only names of public models
are taken, never addresses; nothing is sent but the name; nothing is written to the disk.

``HF_ENDPOINT`` names another server that answers like the Hub; ``POSENC_HUB=off`` or ``HF_HUB_OFFLINE=1``
switch it all off.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from posenc.files.checks import as_table, listed, position_rank
from posenc.files.tensors import Tensor, check_tensor, choose_tensor, decode, safetensors_header
from posenc.tables import MAX_BYTES, Candidate, Table, TableError, clean_name

if TYPE_CHECKING:
    import httpx2

OFF_VARIABLE = "POSENC_HUB"
ENDPOINT = "https://huggingface.co"  # unless HF_ENDPOINT says otherwise

# Seconds: until there is a connection, between two parts of an answer, and for all of it.
CONNECT, PART, WHOLE = 5.0, 10.0, 20.0
HEAD = 2**17  # bytes of the first request: the header of nearly every model fits
MAX_INDEX = 10 * 2**20  # bytes of the list of tensors that a model in several files has
MAX_SHARDS = 4  # of these files are looked into

_FILE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_REVISION = re.compile(r"[\w.][\w./-]{0,99}", re.ASCII)
_SHARD = re.compile(r"[\w-][\w.-]{0,199}", re.ASCII)


class KnownModel(NamedTuple):
    """A model that many know: its id, and a title."""

    model_id: str
    title: str
    key: str | None = None  # where several tensors are named as one of positions


WELL_KNOWN: tuple[KnownModel, ...] = (
    KnownModel("openai-community/gpt2", "GPT-2"),
    KnownModel("google-bert/bert-base-uncased", "BERT base"),
    KnownModel("FacebookAI/roberta-base", "RoBERTa base"),
    KnownModel("distilbert/distilbert-base-uncased", "DistilBERT base"),
    KnownModel("openai/whisper-tiny", "Whisper tiny", "model.encoder.embed_positions.weight"),
    KnownModel("google/vit-base-patch16-224", "ViT-B/16"),
)


def hub_is_on() -> bool:
    """Say whether this process may ask the Hub."""
    return os.environ.get(OFF_VARIABLE, "").strip().lower() != "off"


def read_from_hub(model_id: str, *, key: str | None = None, revision: str = "main") -> Table:
    """Return the position table of a model, read from its safetensors file or files.

    Parameters
    ----------
    model_id
        ``organisation/name``, or a name alone for the oldest models.
    key
        Name of the tensor; None takes the one named as a table of positions.
    revision
        Branch, tag or commit.

    Raises
    ------
    TableError
        With a code that begins with ``hub_`` for all that can go wrong on the way; else as in
        `posenc.read_table`.
    """
    if not hub_is_on():
        raise TableError("hub_off")
    model = _Model(_checked_id(model_id), _checked_revision(model_id, revision))
    tensors, files = _header(model, key)
    try:
        found, candidates, notes = choose_tensor(tensors, key)
    except TableError as error:
        if key is None and error.code in ("choose", "no_tables"):  # none is named as one of positions
            _none_found(model, tensors, error)
        raise
    tensor = tensors[found]
    check_tensor(found, tensor)
    values = decode(tensor, files[found].read(tensor.start, tensor.stop))
    dtype = next(each.dtype for each in candidates if each.key == found)
    return as_table(
        values, what=found, dtype=dtype, name=model.name, notes=notes, key=found, candidates=candidates
    )


def _none_found(model: "_Model", tensors: Mapping[str, Tensor], error: TableError) -> NoReturn:
    """Say what the model has instead of a position table, and keep what could be chosen for the page."""
    held = [Candidate(name, tensor.shape, tensor.dtype) for name, tensor in tensors.items()]
    raise TableError(
        "hub_no_position_table",
        model=model.name,
        tensors=listed(held),
        candidates=error.values.get("candidates", ()),
    ) from None


def _checked_id(model_id: str) -> str:
    """Return the id if it can be one: no address, no path, nothing that the Hub's own check refuses."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # documented there

    given = str(model_id).strip()
    try:
        validate_repo_id(given)
    except HFValidationError:
        raise TableError("hub_id", given=repr(given[:100])) from None
    return given


def _checked_revision(model_id: str, revision: str) -> str:
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise TableError("hub_missing", model=f"{model_id}@{revision[:100]}")
    return revision


def _header(model: "_Model", key: str | None) -> tuple[Mapping[str, Tensor], Mapping[str, "_File"]]:
    """Return the tensors to choose from, and the file that each is in."""
    try:
        files = [_File(model, _FILE)]
        wanted = None
    except _NoSuchFileError:
        wanted = _shards(model, key)
        try:
            files = [_File(model, name) for name in dict.fromkeys(wanted.values())]
        except _NoSuchFileError:  # though the index has it
            raise TableError("hub_cut", model=model.name) from None
    tensors: dict[str, Tensor] = {}
    places: dict[str, _File] = {}
    for file in files:
        for name, tensor in safetensors_header(file.read, file.size).items():
            if wanted is None or wanted.get(name) == file.name:
                tensors[name], places[name] = tensor, file
    return tensors, places


def _shards(model: "_Model", key: str | None) -> dict[str, str]:
    """Return the tensors of a model in several files that may be the position table → their files."""
    try:
        index, _ = model.fetch(_INDEX, 0, MAX_INDEX)
    except _NoSuchFileError as error:
        code = "hub_no_safetensors" if error.model_exists else "hub_missing"
        raise TableError(code, model=model.name) from None
    try:
        files = json.loads(index)["weight_map"]
        all_of_them = {clean_name(name): _plain_name(file) for name, file in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TableError("hub_cut", model=model.name) from None
    if key is not None:
        if key not in all_of_them:
            keys = ", ".join(sorted(all_of_them)[:8])
            raise TableError("unknown_key", key=key, keys=keys, candidates=())
        return {key: all_of_them[key]}
    named = sorted(filter(position_rank, all_of_them), key=position_rank, reverse=True)
    if not named:
        tensors = ", ".join(sorted(all_of_them)[:8])
        raise TableError("hub_no_position_table", model=model.name, tensors=tensors, candidates=())
    shards = list(dict.fromkeys(all_of_them[name] for name in named))[:MAX_SHARDS]
    return {name: all_of_them[name] for name in named if all_of_them[name] in shards}


def _plain_name(file: str) -> str:
    """Return the name of a file beside the index, which leads nowhere else."""
    if not _SHARD.fullmatch(file):
        raise ValueError
    return file


class _NoSuchFileError(Exception):
    """The server has no such file; it may have said that it has the model."""

    def __init__(self, model_exists: bool) -> None:
        super().__init__()
        self.model_exists = model_exists


class _File:
    """One file of a model, read in ranges; its first bytes are kept, since the header is among them."""

    def __init__(self, model: "_Model", name: str) -> None:
        self.model, self.name = model, name
        self.head, self.size = model.fetch(name, 0, HEAD)

    def read(self, start: int, stop: int) -> bytes:
        """Return these bytes of the file."""
        if stop <= len(self.head):
            return self.head[start:stop]
        data, size = self.model.fetch(self.name, start, stop)
        if size != self.size or len(data) != stop - start:
            raise TableError("hub_cut", model=self.model.name)
        return data


class _Model:
    """One visit to the Hub for one model: the time that is left for it, and the commit that it began with."""

    def __init__(self, name: str, revision: str) -> None:
        self.name, self.revision = name, revision
        self.endpoint = (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
        self.deadline = time.monotonic() + WHOLE

    def fetch(self, file: str, start: int, stop: int) -> tuple[bytes, int]:
        """Return the bytes from `start` up to `stop` or the end of a file, and the size of the whole file."""
        import httpx2
        from huggingface_hub import get_session, hf_hub_url

        with self._failures():
            url = hf_hub_url(self.name, file, revision=self.revision, endpoint=self.endpoint)
            # Not the headers that huggingface_hub makes: these take a request of their own, to find out what
            # program is asking, and may carry a token.
            headers = {
                "User-Agent": "posenc",
                "Range": f"bytes={start}-{stop - 1}",
                "Accept-Encoding": "identity",  # a range of packed bytes would be of no use
            }
            times = httpx2.Timeout(min(PART, self._left()), connect=min(CONNECT, self._left()))
            with get_session().stream("GET", url, headers=headers, timeout=times) as answer:
                self._check_status(answer)
                first, last, size = self._span(answer, start, stop)
                data = bytearray()
                for part in answer.iter_raw():
                    data += part
                    self._left()
                    if len(data) >= last - first:
                        break
                self._keep_commit(answer)
        data = data[start - first : last - first]
        if len(data) != last - start:
            raise TableError("hub_cut", model=self.name)
        return bytes(data), size

    def _left(self) -> float:
        """Return the seconds that are left, or give up."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TableError("hub_slow", seconds=f"{WHOLE:g}")
        return left

    def _unreachable(self) -> TableError:
        """Name the server without the password that its address may have."""
        shown = clean_name(re.sub("//[^/@]*@", "//", self.endpoint))
        return TableError("hub_unreachable", endpoint=shown)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn whatever happens on the way to a server into a sentence."""
        import httpx2
        from huggingface_hub.errors import OfflineModeIsEnabled

        try:
            yield
        except httpx2.TimeoutException:
            raise TableError("hub_slow", seconds=f"{WHOLE:g}") from None
        except (httpx2.RemoteProtocolError, httpx2.ReadError):
            raise TableError("hub_cut", model=self.name) from None
        except OfflineModeIsEnabled:
            raise TableError("hub_off") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
            raise self._unreachable() from None

    def _check_status(self, answer: "httpx2.Response") -> None:
        """Return if the answer has bytes of the file; else say what the server says."""
        status, reason = answer.status_code, answer.headers.get("X-Error-Code", "")
        if status in (200, 206):
            return
        if reason == "EntryNotFound" or (status == 404 and not reason):
            raise _NoSuchFileError(model_exists=bool(reason))
        if status == 429:
            raise TableError("hub_busy")
        if status >= 500:
            raise self._unreachable()
        if status == 403 or reason == "GatedRepo":
            raise TableError("hub_gated", model=self.name)
        # The Hub answers 401 for models that it does not have, too, lest private ones be found out.
        wanted = f"{self.name}@{self.revision}" if reason == "RevisionNotFound" else self.name
        raise TableError("hub_missing" if status in (401, 404) else "hub_cut", model=wanted)

    def _span(self, answer: "httpx2.Response", start: int, stop: int) -> tuple[int, int, int]:
        """Return which bytes of the file the answer holds, first and past the last, and the file's size."""
        headers = answer.headers
        if answer.status_code == 206:
            found = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", headers.get("Content-Range", ""))
            first, last, size = (int(each) for each in found.groups()) if found else (-1, -1, -1)
            right = first == start and last == min(stop, size) - 1
        else:  # all of it, whatever was asked for
            length = headers.get("Content-Length", "")
            first, size = 0, int(length) if re.fullmatch(r"\d{1,18}", length) else -1
            last = min(stop, size) - 1
            right = size >= 0 and stop <= MAX_BYTES
        if not right or headers.get("Content-Encoding", "identity") != "identity":
            raise TableError("hub_cut", model=self.name)
        return first, last + 1, size

    def _keep_commit(self, answer: "httpx2.Response") -> None:
        """Read the rest of the files as they were at the first answer, whatever is pushed meanwhile."""
        for each in (*answer.history, answer):
            commit = each.headers.get("X-Repo-Commit", "")
            if re.fullmatch(r"[0-9a-f]{40}", commit):
                self.revision = commit
