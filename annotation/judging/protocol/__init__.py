"""What the exchange between the labeling page and the site means, without Django."""
