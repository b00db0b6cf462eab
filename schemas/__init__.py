"""What travels and what is stored."""
