"""Where a machine judge and a person contradict each other, and what the next prompt learns of it.

A contradiction is looked at again or tells of an unclear guideline, as any disagreement is settled;
what people say of it can become an example of a grade, which the next campaign's prompt holds.
"""
