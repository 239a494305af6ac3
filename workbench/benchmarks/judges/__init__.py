"""One file per kind of answer; the file name is an instance's ``dataset``."""
