"""The labeling page: a queue, documents shared out by leases, and what people say of them."""
