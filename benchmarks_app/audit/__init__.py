"""What happened, who did it: the log of a benchmark and of the site, and its export."""
