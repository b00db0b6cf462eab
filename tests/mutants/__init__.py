"""Single faults, each of which breaks a rule: `make mutants` puts them in, one at a time, and sees a test fail."""
