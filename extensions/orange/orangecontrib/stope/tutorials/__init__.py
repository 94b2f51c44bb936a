"""Example workflows, which Orange offers under Help and on its welcome page."""
