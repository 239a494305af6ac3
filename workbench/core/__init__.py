"""Floor 0: words, errors, paths and plugins that every room shares. Imports no other room."""
