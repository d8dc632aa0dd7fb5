"""The broker that is a folder: no worker sees half a message."""

from pathlib import Path

from kombu import Connection

from benchmarks_app.celery import app


class Looking:
    """What a worker would find while a message is being written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __json__(self) -> list[str]:
        return [path.name for path in self.folder.glob("*.msg")]


def test_message_is_whole_as_soon_as_it_is_seen(tmp_path):
    assert app.main == "benchwright"  # it has chosen the transport
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
    with Connection(
        "filesystem://localhost",
        transport_options={**folders, "control_folder": str(tmp_path / "control")},
    ) as connection:
        channel = connection.default_channel

        channel._put("jobs", {"seen": Looking(tmp_path)})

        assert len(list(tmp_path.glob("*.jobs.msg"))) == 1
        assert not list(tmp_path.glob("*.begun"))
        assert channel._get("jobs") == {"seen": []}
