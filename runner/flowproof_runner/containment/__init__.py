"""The agent's whole process tree under a default-deny network filter, without privileges.

`policy`, `sockaddr`, `rules` and `judge` are pure. `supervisor` and everything below it runs in a process of its own
on the standard library alone, so that it starts fast and holds nothing an agent could borrow.
"""
