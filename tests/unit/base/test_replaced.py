"""A file is there whole or not at all."""

from pathlib import Path

import pytest

from gregor.worker.base.replaced import is_part, replaced


def test_the_old_one_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replaced(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        assert sorted(is_part(other.name) for other in tmp_path.iterdir()) == [False, True]
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_one_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replaced(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_secret_is_for_its_owner_from_the_beginning(tmp_path: Path) -> None:
    with replaced(tmp_path / "token", 0o600) as file:
        part = next(tmp_path.iterdir())
        assert part.stat().st_mode & 0o777 == 0o600
        file.write(b"secret")
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replaced(tmp_path / "none" / "file"):
        pass
