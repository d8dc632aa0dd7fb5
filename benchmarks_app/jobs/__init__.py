"""Background work: started once, watched, retried, ended, and swept up after."""
