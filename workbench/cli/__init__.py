"""Floor 4: parse arguments, call one function, print."""
