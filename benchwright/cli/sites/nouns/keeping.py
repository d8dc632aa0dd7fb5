"""Who is there, what goes on, and who is told of it."""

from benchwright.cli.sites.nouns.table import (
    ALL,
    SHOWN,
    Noun,
    Verb,
    among,
    changed,
    done,
    either,
    listed,
    one,
    removed,
    seen,
    several,
    word,
)

EVENT = among(
    "submission.scored", "release.published", "gate.decided", "pool.finished", "job.failed"
)

NOUNS = {
    "me": Noun(
        "me/",
        verbs={
            "show": seen("", ALL),
            "pools": listed("pools/", "Pools that you judge.",
                            "benchmark name n_left n_done due_on"),
            "judgments": listed("judgments/", "Your judgments that stand.",
                                "id benchmark query title grade reason created_at"),
            "questions": listed("questions/", "What you asked.", "id query text answer"),
            "hours": listed("hours/", "Your active time and labels, by day and pool.",
                            "day benchmark pool active_minutes grades"),
            "accept": done("invitations/accept/", "Accept an invitation by its link.",
                           word("link")),
            "mails": seen("mails/", "Of what you are mailed."),
            "mail": Verb("PUT", "mails/", "Be mailed of this alone; of nothing if none is named.",
                         (word("events", nargs=-1, type=EVENT),)),
        },
        is_of_site=True,
    ),
    "teams": Noun(
        "me/teams/", "id name members",
        {
            "show": SHOWN,
            "new": done("", "Make one; you are its only member.", names="name"),
            "add": done("{}/members/", "Let somebody in.", word("username")),
            "link": done("{}/link/", "Make a link by which others join it."),
            "join": done("join/", "Join one by its link.", word("link")),
            "leave": removed("Leave it; it ends with its last member."),
        },
        by="name",
        is_of_site=True,
    ),
    "members": Noun(
        "people/", "username role has_two_factors created_at",
    ),
    "invitations": Noun(
        "people/invitations/", "id role note expires_at",
        {"remove": removed("Withdraw one; its link no longer works.")},
    ),
    "activity": Noun(
        "audit/", "at by kind action target"
    ),
    "jobs": Noun(
        "jobs/", "id title state done total created_at",
    ),
    "webhooks": Noun(
        "webhooks/", "id url events off n_waiting failing_since",
        {
            "show": SHOWN,
            "new": done(
                "", "Have the program at a URL told; its secret is shown this once.",
                several("--event", "events", type=EVENT, required=True, help="Of what; repeat it."),
                names="url",
            ),
            "change": changed(
                "Change it, or switch it on or off.",
                one("--url", metavar="URL", help="A new address."),
                several("--event", "events", type=EVENT, help="Of these alone; repeat it."),
                either("--on/--off", "is_on", "Whether it is told."),
            ),
            "try": done("{}/test/", "Send it a test."),
            "answers": listed("{}/deliveries/", "What it was told, and what it answered.",
                              "id event state status milliseconds happened_at fault"),
            "send-again": done("{}/deliveries/{delivery}/send/", "Send it a notice again.",
                               word("delivery", type=int, metavar="ID")),
            "secret": done("{}/secret/", "Renew its secret, which is shown this once."),
            "remove": removed("Tell it nothing more."),
        },
        by="url",
    ),
}  # fmt: skip
