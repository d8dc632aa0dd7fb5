"""What scoring knows of one run: its queries, holes, pictures and speed."""
