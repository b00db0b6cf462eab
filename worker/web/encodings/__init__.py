"""Which encoding a text is in (the Encoding Standard's labels, sniffing by HTML's rules), and its characters."""
