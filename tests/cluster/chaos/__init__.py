"""Crawls on real servers while workers and servers are killed, stopped and cut off."""
