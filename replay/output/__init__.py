"""What is written: scripts, datasets, structure, bundles with their manifest, quarantine,
migrations."""
