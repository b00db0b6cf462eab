"""What is found: terms, queries, the index, ranks, the search page. Held to the recorded web's known items too."""
