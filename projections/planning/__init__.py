"""Which turns a window holds and what gives way: everything between the turns of a ledger and the pieces of a request. Pure."""
