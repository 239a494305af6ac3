"""One file per routing method; the file name is the stage's name in a recipe."""
