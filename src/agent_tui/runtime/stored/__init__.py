"""The sessions on disk: found, forked, imported, exported, searched, shipped."""
