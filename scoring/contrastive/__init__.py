"""Contrastive accuracy on the site: pairs of embeddings, measured as jobs."""
