"""Commands, the API and whole crawls as people meet them: real processes or a whole worker, over loopback."""
