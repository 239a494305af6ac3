"""One file per benchmark format; the file name is the `format:` of a suite.yaml."""
