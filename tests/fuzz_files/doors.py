"""Where files come in, by the page and by the API: functions of a sender and a case."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.fuzz_files import seeds
from tests.fuzz_files.cases import Case
from tests.system.visitor import PASSWORD

Files = Mapping[str, tuple[str, bytes]]


@dataclass(frozen=True)
class Asked:
    """A request and its answer; status 0 is none at all."""

    what: str
    status: int
    seconds: float
    text: str = ""


@dataclass
class Sender:
    """Olga at her browser and at her script, in one benchmark; keeps what was answered."""

    page: httpx.Client
    api: httpx.Client
    slug: str
    asked: list[Asked] = field(default_factory=list)

    def sign_in(self) -> None:
        self.page.get("/sign-in/")
        who = {"username": "olga", "password": PASSWORD, "csrfmiddlewaretoken": self._csrf}
        answer = self.page.post("/sign-in/", data=who)
        if "sign-out" not in answer.text:
            raise AssertionError(
                f"Olga could not sign in: {answer.status_code} {answer.text[:999]}"
            )

    def close(self) -> None:
        self.page.close()
        self.api.close()

    @property
    def _csrf(self) -> str:
        return self.page.cookies.get("csrftoken", "")

    def see(self, path: str) -> httpx.Response:
        return self._keep(self.page, "GET", path)

    def submit(
        self, path: str, data: Mapping[str, str], files: Files | None = None
    ) -> httpx.Response:
        """Send a form of a page of the benchmark."""
        data = {**data, "csrfmiddlewaretoken": self._csrf}
        return self._keep(self.page, "POST", f"/b/{self.slug}/{path}", data=data, files=files)

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask the API of the benchmark."""
        return self._keep(self.api, method, f"/api/v1/benchmarks/{self.slug}/{path}", **more)

    def _keep(self, client: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
        started = time.monotonic()
        try:
            answer = client.request(method, path, **more)
        except httpx.HTTPError as error:
            answer = httpx.Response(599, text=f"{type(error).__name__}: {error}")
            answer.request = httpx.Request(method, "http://nowhere/")
        seconds = time.monotonic() - started
        self.asked.append(
            Asked(f"{method} {path}", answer.status_code, seconds, answer.text[:4000])
        )
        return answer


def is_taken(answer: httpx.Response) -> bool:
    return answer.status_code < 400


# --- the drop zone ---------------------------------------------------------------------------


def put_down(sender: Sender, case: Case) -> bool:
    """Uploaded, looked at on the page and by the API, imported if it can be, else taken away."""
    upload = _uploaded(sender, case)
    if upload is None:
        return False
    answer = sender.call("GET", f"uploads/{upload}/")
    sender.see(f"/b/{sender.slug}/import/{upload}/")
    sender.see(f"/b/{sender.slug}/import/")
    is_ready = is_taken(answer) and answer.json()["is_ready"]
    if _imported(sender, case, upload, is_ready=is_ready):
        return True
    if case.is_page:
        sender.submit(f"import/{upload}/remove/", {})
    else:
        sender.call("DELETE", f"uploads/{upload}/")
    return False


def _uploaded(sender: Sender, case: Case) -> int | None:
    if not case.is_page:
        answer = sender.call("POST", "uploads/", files={"file": (case.file, case.content)})
        return int(answer.json()["id"]) if is_taken(answer) else None
    answer = sender.submit("import/", {}, {"files": (case.file, case.content)})
    answers = re.search(r"/import/(\d+)/", str(answer.url) if is_taken(answer) else "")
    return int(answers[1]) if answers else None


def _imported(sender: Sender, case: Case, upload: int, *, is_ready: bool) -> bool:
    """What the page does not offer, a script tries all the same now and then."""
    if case.is_page:
        answer = sender.submit(f"import/{upload}/", {"import": "1"})
        return "/jobs/" in str(answer.url)
    if not is_ready and case.number % 3:
        return False
    options = {} if is_ready else {"leave_out": "records"}
    return is_taken(sender.call("POST", f"uploads/{upload}/import/", json=options))


def put_log_down(sender: Sender, case: Case) -> bool:
    """A query log: by the page in two steps, of which the second shows its first rows."""
    file = {"file": (case.file, case.content)}
    if not case.is_page:
        return is_taken(sender.call("POST", "logs/", files=file, data={"lenient": "true"}))
    answer = sender.submit("queries/log/", {}, file)
    sender.see(f"/b/{sender.slug}/queries/log/")
    answers = re.search(r"/(queries/log/waiting/\d+/)", str(answer.url))
    if answers is None:
        return False
    columns = {"name": case.file[:100], "floor": "1", "query": "query", "count": "count"}
    answer = sender.submit(answers[1], columns)
    if "/jobs/" in str(answer.url):
        return True
    sender.submit(f"{answers[1]}discard/", {})
    return False


# --- what is sent in with a form of its own --------------------------------------------------


@dataclass(frozen=True)
class Form:
    """A form that takes the case as its file `file`, beside honest ones."""

    file: str
    page: str = ""
    api: str = ""
    data: Mapping[str, str] = field(default_factory=dict)
    beside: Callable[[Case], Files] = lambda case: {}

    def __call__(self, sender: Sender, case: Case) -> bool:
        files = {**self.beside(case), self.file: (case.file, case.content)}
        data = {key: value.format(name=case.file[:100]) for key, value in self.data.items()}
        if self.page and (case.is_page or not self.api):
            answer = sender.submit(self.page, data, files)
        else:
            answer = sender.call("POST", self.api, data=data, files=files)
        return is_taken(answer)


def _run(case: Case) -> Files:
    # Equal runs are one submission: each has a comment of its own.
    return {"file": ("honest.run", f"# {case.name}\n".encode() + seeds.run_lines())}


def _vectors(case: Case) -> Files:
    files = {"query_embeddings": ("queries.npz", seeds.npz(seeds.QUERIES))}
    if case.kind == "npy":
        files["document_ids"] = ("documents.txt", "\n".join(seeds.DOCUMENTS).encode())
    return files


def _matrices(case: Case) -> Files:
    both = (("query_embeddings", seeds.QUERIES), ("document_embeddings", seeds.DOCUMENTS))
    ids = {"query_ids": ("queries.txt", "\n".join(seeds.QUERIES).encode())}
    return {
        **{name: (f"{name}.npy", seeds.npy(seeds.matrix(len(of)))) for name, of in both},
        **ids,
    }


def _query_ids(case: Case) -> Files:
    is_bare = case.kind == "npy"
    return {"ids": ("ids.txt", "\n".join(seeds.QUERIES).encode())} if is_bare else {}


def _other_side(case: Case) -> Files:
    return {"z2": ("z2.npy", seeds.npy(seeds.matrix()[:, ::-1]))}


def _cases(case: Case) -> Files:
    name = case.file if case.kind != "zip" else "a.png"
    return {"cases": ("cases.jsonl", seeds.case_lines(name))}


def _pictures(case: Case) -> Files:
    return {"images": ("a.png", seeds.picture("PNG"))}


_NEW = "runs/submissions/embeddings/new/"
_EMBEDDINGS = "submissions/embeddings/"
_SENT = {"name": "{name}", "visibility": "benchmark"}
_SEARCH = {**_SENT, "similarity": "cosine"}
DOORS: Mapping[str, Callable[[Sender, Case], bool]] = {
    "import": put_down,
    "submit": Form("file", "runs/submit/", "submissions/", _SENT),
    "metadata": Form("ir_metadata_file", "runs/submit/", "", _SENT, _run),
    "embeddings": Form("document_embeddings", _NEW, _EMBEDDINGS, _SEARCH, _vectors),
    "ids": Form("document_ids", _NEW, _EMBEDDINGS, _SEARCH, _matrices),
    "contrastive": Form(
        "z1", "contrastive/new/", "contrastive/", {**_SENT, "ties": "expected"}, _other_side
    ),
    "families": Form("embeddings", "", "families/group/", {}, _query_ids),
    "images": Form("images", "contextual/import/", "contextual/sets/", {"name": "{name}"}, _cases),
    "cases": Form("cases", "contextual/import/", "contextual/sets/", {"name": "{name}"}, _pictures),
    "logs": put_log_down,
    "reported": Form(
        "file-file", "leaderboard/reported/new/", "", {"what": "file", "file-system": "{name}"}
    ),
    "slices": Form("file", "slices/import/", "slices/import/"),
    "splits": Form("file", "splits/", "", {"mode": "given", "apply": "1"}),
    "labels": Form("file", "judgments/import/"),
    "contamination": Form(
        "file", "splits/contamination/new/", "contamination/", {"name": "{name}"}
    ),
}
