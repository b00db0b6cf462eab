"""Which partition a host has, who owns a partition, and until when."""
