"""What an operator watches a site by: figures for Prometheus, lines of a log, and a doctor."""
