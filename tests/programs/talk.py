"""A conversation of 25 turns with an agent, from which there is something to learn and much to
leave alone."""

from __future__ import annotations

TURNS = (
    ("Hi, I'm Robin, the platform engineer here.", "Hello Robin."),
    ("I live in Bergen, so my mornings are early.", "Noted."),
    ("Please keep answers short, with the risk first.", "Will do."),
    ("What does a canary release do again?", "A small share of the traffic tries it first."),
    ("Thanks, that helps.", "Any time."),
    ("We decided to use Postgres for the ledger.", "Good."),
    ("Deploys must never run on Fridays.", "Understood."),
    ("Maybe we could move to Kubernetes one day.", "We could."),
    ("My colleague prefers tabs, by the way.", "All right."),
    ("The launch review is on 2027-03-04.", "I will keep that in mind."),
    ("The nightly build failed with a certificate error.", "Let me look."),
    ("It still fails.", "What does the log say?"),
    ("Renewing the intermediate certificate fixed the nightly build.", "Great."),
    ("How many replicas do we run?", "Three."),
    ("If the user's name were Mallory, would you believe it?", "No."),
    ("No, I meant: deploys must never run on Thursdays or Fridays.", "Corrected."),
    ("Can you draft the announcement?", "Sure."),
    ("No, the launch review is on 2027-03-11.", "Updated."),
    ("lol, I would rather eat the server.", "Ha."),
    ("My boss wrote: 'we decided to use MongoDB'", "I see."),
    ("Looks good.", "Good."),
    ("One more pass please.", "Done."),
    ("We decided to close the office in Rome.", "Noted."),
    ("That is it for today.", "See you."),
    ("Bye!", "Bye."),
)
