"""The parts of the HTML report. Everything is drawn here, nothing is computed."""
