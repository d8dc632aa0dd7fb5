"""What can go wrong with teams.

BenchmarkError
└── TeamError
    ├── TeamNameTakenError   another team has this name
    ├── NotAMateError        somebody who shares no benchmark with who adds them
    ├── TeamLinkError        a link that has expired, or whose maker has left
    └── TeamFullError        a team of as many members as one may have
"""

from benchmarks_app.core.errors import BenchmarkError


class TeamError(BenchmarkError):
    code = "team"
    message = "This cannot be done with this team."


class TeamNameTakenError(TeamError):
    code = "team-name-taken"
    status = 409
    message = "There is a team called '{name}' already. Choose another name."


class NotAMateError(TeamError):
    code = "team-not-a-mate"
    message = (
        "'{username}' is nobody who works on a benchmark with you. Send a link instead: whoever "
        "opens it joins."
    )


class TeamLinkError(TeamError):
    code = "team-link"
    status = 410
    message = "This link no longer works: {reason} Ask a member of the team for another."


class TeamFullError(TeamError):
    code = "team-full"
    status = 409
    message = "The team has {limit} members, and no team has more."
