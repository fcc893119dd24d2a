"""The gates over every supported Python: `nox` with no arguments runs them all. `make test` runs them on one."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["check", "unit"]

PYTHONS = ["3.11", "3.12", "3.13"]
PROJECT = nox.project.load_toml("pyproject.toml")


def install(session: nox.Session, group: str) -> None:
    session.install("--editable", ".[all]", *nox.project.dependency_groups(PROJECT, group))


@nox.session
def check(session: nox.Session) -> None:
    """Ruff and mypy."""
    install(session, "dev")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session(python=PYTHONS)
def unit(session: nox.Session) -> None:
    """The fast tests."""
    install(session, "test")
    session.run("pytest", "-n", "2", "-m", "not lab and not browser", *session.posargs)


@nox.session
def deck(session: nox.Session) -> None:
    """The run deck in a headless Chromium."""
    session.run("sh", "tests/deck/install.sh", external=True)
    install(session, "test")
    session.run("pytest", "-m", "browser", *session.posargs)


@nox.session
def lab(session: nox.Session) -> None:
    """The tests against real sshd and real containers; needs root."""
    session.run("sh", "tests/lab/install.sh", external=True)
    install(session, "test")
    session.run("pytest", "-m", "lab", *session.posargs)
