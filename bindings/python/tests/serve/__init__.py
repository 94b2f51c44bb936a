"""The server's tests. They are a package, so that their modules may have names that others have, too."""
