"""What a gate would have said of runs whose truth is known, before it is asked to decide."""
